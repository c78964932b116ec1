#!/bin/sh
# Plays GRUB: runs boot/grub.cfg, whose language is nearly that of sh. Usage: play-grub.sh GRUBENV GRUB.CFG SLOT-A SLOT-B. The slots
# are devices or folders. GRUB sees them as the second and third partition. Prints the output of GRUB, and as the last line `boot `
# and the kernel's command line. Exits with 1 after 20 starts without a kernel.
set -eu
environment=$1
config=$2
gpt2=$3
gpt3=$4
starts=${5:-1}
if [ "$starts" -gt 20 ]; then exit 1; fi

# A file that is lost, or has not the head of one, gives nothing and takes nothing.
is_whole() { head -n 1 "$environment" 2> /dev/null | grep -qx '# GRUB Environment Block'; }
load_env() {
    is_whole || return 0
    for name in "$@"; do
        value=$(sed -n "s/^$name=//p" "$environment")
        eval "$name=\$value"
    done
}
# The values have one digit, so the file keeps its length.
save_env() {
    is_whole || { echo "error: invalid environment block."; return 0; }
    for name in "$@"; do
        eval "value=\$$name"
        sed -i "s/^$name=.*/$name=$value/" "$environment"
    done
}
regexp() { disk=disk; }
is_there() {
    eval "slot=\$${1%%:*}"
    if [ -d "$slot" ]; then
        [ -e "$slot${1#*:}" ]
    else
        unshare -m sh -c 'mount -t squashfs -o ro "$1" /mnt && test -e "/mnt$2"' sh "$slot" "${1#*:}"
    fi
}
linux() {
    kernel=$1
    shift
    line=$*
    is_there "$kernel" || { echo "error: file \`${kernel#*:}' not found."; return 1; }
}
initrd() { is_there "$1"; }
boot() { echo "boot $line"; exit 0; }
reboot() { exec sh "$0" "$environment" "$config" "$gpt2" "$gpt3" $((starts + 1)); }

root=disk,gpt1
eval "$(sed 's/\bset \([A-Za-z_]*=\)/\1/g; s/(\$disk,gpt\$part)/gpt$part:/g' "$config")"
