# Installs, starts and removes an .rpm package. Arguments: the root folder and the package. The first failure ends the script with a message.
set -eu
root=$0 package=$1 database=/var/lib/rpm
fail() { echo "FAILED  $1" >&2; exit 1; }
inside() { rpm --root "$root" --dbpath "$database" "$@"; }
all() { (cd "$root" && find . -path "./proc" -prune -o -path "./dev" -prune -o -path ".$database" -prune -o -path ./tmp -prune -o -print | sort); }
# Part of the package "filesystem" in Fedora. Debian creates this folder on demand.
mkdir -p "$root$database" "$root/usr/share/metainfo"
all >"$root/tmp/before"
inside --nodeps --nosignature -i "$package" || fail "the .rpm could not be installed"
inside -ql drawbridge >"$root/tmp/packaged"
inside --nodeps -V drawbridge || fail "installed files are not as they were packed"
for program in /usr/bin/drawbridge /usr/bin/drawbridge-cli /usr/lib/drawbridge/demo-server; do
  grep -qx "$program" "$root/tmp/packaged" || fail "$program is not in the .rpm"
  missing=$(chroot "$root" ldd "$program" | grep 'not found') && fail "$program: $missing"
done
chroot "$root" /usr/bin/drawbridge-cli --version || fail "the installed command line does not start"
inside -e --nodeps drawbridge || fail "the .rpm could not be removed"
all >"$root/tmp/after"
diff "$root/tmp/before" "$root/tmp/after" || fail "the removed .rpm has left something"
echo "ok      the .rpm was installed, its programs find their libraries, and its removal left nothing"
