// Selects an option of a native select. The DOM of the tests lacks `option:checked`, which Svelte uses to read a
// selection.
import { fireEvent } from "@testing-library/svelte";

export async function selectOption(select: HTMLElement, value: string): Promise<void> {
  if (!(select instanceof HTMLSelectElement)) throw new Error("this is no select");
  const option = [...select.options].find((o) => o.value === value);
  if (!option) throw new Error(`there is no option ${value}`);
  select.value = value;
  select.querySelector = () => option;
  await fireEvent.change(select);
  Reflect.deleteProperty(select, "querySelector");
}
