# Chooses the first entry with this beginning of its label in the menu of the tray icon, like the desktop does on a click
# (com.canonical.dbusmenu). The tests have no tray, which the icon does not require.

import sys

from gi.repository import Gio, GLib

PREFIX = "org.kde.StatusNotifierItem-"

bus = Gio.bus_get_sync(Gio.BusType.SESSION)


def call(name, path, interface, method, arguments=None):
    return bus.call_sync(name, path, interface, method, arguments, None, Gio.DBusCallFlags.NONE, 5000).unpack()


(names,) = call("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "ListNames")
item = next((name for name in names if name.startswith(PREFIX)), None)
if item is None:
    sys.exit("no program has a tray icon")
menu = ("/MenuBar", "com.canonical.dbusmenu")
_, (_, _, entries) = call(item, *menu, "GetLayout", GLib.Variant("(iias)", (0, -1, ["label"])))
labels = {number: properties.get("label", "") for number, properties, _ in entries}
number = next((number for number, label in labels.items() if label.startswith(sys.argv[1])), None)
if number is None:
    sys.exit(f"the menu has no entry {sys.argv[1]}, but {', '.join(labels.values())}")
call(item, *menu, "Event", GLib.Variant("(isvu)", (number, "clicked", GLib.Variant("i", 0), 0)))
