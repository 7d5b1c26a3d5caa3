// The parts of bits-ui that the page uses, in the place of the whole, whose five hundred modules take long to load.
export { Command } from "../../../node_modules/bits-ui/dist/bits/command";
export { Dialog } from "../../../node_modules/bits-ui/dist/bits/dialog";
export { DropdownMenu } from "../../../node_modules/bits-ui/dist/bits/dropdown-menu";
export { Tabs } from "../../../node_modules/bits-ui/dist/bits/tabs";
