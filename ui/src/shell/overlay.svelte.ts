// Which of the shell's own dialogs is open.
export const overlay = $state<{
  palette: boolean;
  shortcuts: boolean;
  left: boolean;
  activity: boolean;
}>({
  palette: false,
  shortcuts: false,
  left: false,
  activity: false,
});
