# Prints what a program exports to assistive technology (AT-SPI) as one JSON object for each accessible object, with its children. Expects
# the name of the program. With the name of a button as a second argument, presses this button instead. Used by `accessible.mjs`.

import json
import sys

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi  # noqa: E402

STATES = {
    "focused": Atspi.StateType.FOCUSED,
    "modal": Atspi.StateType.MODAL,
    "checked": Atspi.StateType.CHECKED,
    "expanded": Atspi.StateType.EXPANDED,
    "required": Atspi.StateType.REQUIRED,
    "invalid": Atspi.StateType.INVALID_ENTRY,
}
MAX_DEPTH = 100


def text(accessible):
    """Returns the text of an object, in which a replacement character (U+FFFC) stands for each child."""
    return Atspi.Text.get_text(accessible, 0, -1) if accessible.get_text_iface() else ""


def described_by(accessible):
    """Returns the texts of the objects that describe an object."""
    relations = accessible.get_relation_set() or []
    described = (relation for relation in relations if relation.get_relation_type() == Atspi.RelationType.DESCRIBED_BY)
    targets = (relation.get_target(index) for relation in described for index in range(relation.get_n_targets()))
    return " ".join(text(target) or target.get_name() or "" for target in targets)


def read(accessible, depth=0):
    states = accessible.get_state_set()
    found = [name for name, state in STATES.items() if states.contains(state)]
    if not states.contains(Atspi.StateType.SENSITIVE):
        found.append("disabled")
    children = [accessible.get_child_at_index(index) for index in range(accessible.get_child_count())]
    return {
        "role": accessible.get_role_name(),
        "name": accessible.get_name() or "",
        "description": described_by(accessible) or accessible.get_description() or "",
        "states": found,
        "text": text(accessible),
        "children": [read(child, depth + 1) for child in children if child and depth < MAX_DEPTH],
    }


def find_button(accessible, name, depth=0):
    """Returns the first button with this name, or None."""
    # Releases of AT-SPI name this role differently.
    if accessible.get_role_name() in ("push button", "button") and accessible.get_name() == name:
        return accessible
    children = [accessible.get_child_at_index(index) for index in range(accessible.get_child_count())]
    for child in children:
        found = find_button(child, name, depth + 1) if child and depth < MAX_DEPTH else None
        if found:
            return found
    return None


def programs():
    desktop = Atspi.get_desktop(0)
    found = (desktop.get_child_at_index(index) for index in range(desktop.get_child_count()))
    return [program for program in found if program]


Atspi.init()
# Calls are answered late while the program draws.
Atspi.set_timeout(10_000, 10_000)
wanted = sys.argv[1]
running = programs()
program = next((program for program in running if program.get_name() == wanted), None)
if program is None:
    names = ", ".join(program.get_name() for program in running) or "none"
    sys.exit(f"{wanted} exports no accessible objects; the programs that do: {names}")
if len(sys.argv) == 2:
    json.dump(read(program), sys.stdout)
else:
    button = find_button(program, sys.argv[2])
    if button is None or not button.do_action(0):
        sys.exit(f"there is no button {sys.argv[2]} to press")
