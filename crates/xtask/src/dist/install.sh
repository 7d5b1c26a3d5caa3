#!/bin/sh
# Runs inside the fresh root. The first failure ends the script with a message.
set -eu
fail() { echo "FAILED  $1" >&2; exit 1; }
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
apt-get update -qq >/tmp/apt.log 2>&1 || { tail -20 /tmp/apt.log; fail "the package lists could not be read"; }
apt-get install -y -qq --no-install-recommends /tmp/drawbridge.deb >/tmp/apt.log 2>&1 || { tail -20 /tmp/apt.log; fail "the package could not be installed"; }
useradd -m ann
useradd -m ben
for extension in mcpb dxt; do
  grep -q ":application/x-mcpb:\*\.$extension\$" /usr/share/mime/globs2 || fail "the file manager would not know .$extension files"
done
dpkg -L drawbridge | while read -r path; do [ -d "$path" ] || echo "$path"; done >/tmp/files

cat >/tmp/user.sh <<'USER'
set -eu
export HOME=/home/ann XDG_RUNTIME_DIR=/tmp/ann-run GDK_BACKEND=x11 NO_AT_BRIDGE=1 DISPLAY=:97
mkdir -m 700 -p "$XDG_RUNTIME_DIR"; cd "$HOME"
Xvfb :97 -screen 0 1280x860x24 -nolisten tcp >/tmp/xvfb.log 2>&1 & screen=$!
drawbridge >/tmp/app.log 2>&1 & app=$!
tries=0
colours=0
while [ "$colours" -lt 16 ]; do
  tries=$((tries + 1))
  [ "$tries" -le 120 ] || { cat /tmp/app.log; echo "FAILED  the window stayed empty"; exit 1; }
  kill -0 "$app" || { cat /tmp/app.log; echo "FAILED  the app ended"; exit 1; }
  sleep 1
  import -display :97 -window root /tmp/window.png 2>/dev/null && colours=$(identify -format %k /tmp/window.png || echo 0)
done
sleep 2
import -display :97 -window root /tmp/window.png
echo "ok      the window has content after about $tries s"
kill "$app"; wait "$app" || true
kill "$screen"; wait "$screen" || true
grep -q '"/usr/lib/drawbridge/demo-server"' .config/drawbridge/mcp.json || { cat .config/drawbridge/mcp.json; echo "FAILED  the installed demo server is not set up"; exit 1; }
if drawbridge-cli call demo add --args '{"a": 2, "b": 3}' >/tmp/refused 2>&1; then echo "FAILED  a call went without an approval"; exit 1; fi
echo "ok      nothing starts without an approval"
cat >answers.json <<'ANSWERS'
[{ "kind": "start-server", "server": "demo", "commandLineOnly": true, "answer": { "action": "allow" } },
 { "kind": "tool", "server": "demo", "name": "add", "unreviewed": true, "answer": { "action": "allow" } }]
ANSWERS
drawbridge-cli --answers answers.json call demo add --args '{"a": 2, "b": 3}' >/tmp/called 2>&1 || { cat /tmp/called; echo "FAILED  the approved call"; exit 1; }
grep -q 5 /tmp/called || { cat /tmp/called; echo "FAILED  the approved call gave no 5"; exit 1; }
echo "ok      an approved call of the installed demo server gives its result"
USER
runuser -u ann -- dbus-run-session -- sh /tmp/user.sh || fail "the installed programs"

# The driver of the window is installed last, because the dependencies of the package must suffice without it.
apt-get install -y -qq --no-install-recommends webkit2gtk-driver >/tmp/apt.log 2>&1 || { tail -20 /tmp/apt.log; fail "the driver of the window could not be installed"; }
cat >/tmp/newcomer.sh <<'USER'
set -eu
export HOME=/home/ben XDG_RUNTIME_DIR=/tmp/ben-run GDK_BACKEND=x11 NO_AT_BRIDGE=1 DISPLAY=:98
mkdir -m 700 -p "$XDG_RUNTIME_DIR"; cd "$HOME"
Xvfb :98 -screen 0 1280x860x24 -nolisten tcp >/tmp/xvfb-ben.log 2>&1 & screen=$!
outcome=0
/srv/node /srv/tests/desktop/installed.mjs /usr/bin/drawbridge /tmp/first-start || outcome=$?
kill "$screen"; wait "$screen" || true
exit "$outcome"
USER
runuser -u ben -- dbus-run-session -- sh /tmp/newcomer.sh || { tail -20 /tmp/first-start/output.log; fail "the way to the first approval"; }

apt-get purge -y -qq drawbridge >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; fail "the package could not be removed"; }
while read -r path; do [ ! -e "$path" ] || fail "$path is left"; done </tmp/files
left=$(find / -xdev \( -path /proc -o -path /dev -o -path /tmp -o -path /home -o -path /var/log -o -path /srv \) -prune -o -iname '*drawbridge*' -print)
[ -z "$left" ] || fail "left after the removal: $left"
for user in ann ben; do [ -f "/home/$user/.config/drawbridge/mcp.json" ] || fail "the settings of $user are gone"; done
echo "ok      nothing is left but the user's data"
