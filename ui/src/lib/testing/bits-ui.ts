// Re-exports the used parts of bits-ui. Loading all of its five hundred modules is slow.
export { Command } from "../../../node_modules/bits-ui/dist/bits/command";
export { Dialog } from "../../../node_modules/bits-ui/dist/bits/dialog";
export { DropdownMenu } from "../../../node_modules/bits-ui/dist/bits/dropdown-menu";
export { Tabs } from "../../../node_modules/bits-ui/dist/bits/tabs";
