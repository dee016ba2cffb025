#!/bin/bash
# bare-lab.sh FOLDER [URL]: the lab's kernel work as one would write it for a shell. FOLDER holds what
# plan-bare-lab.ts wrote: ip batches, sysctls and rules. With a URL, each pod gets an HTTP server and the first
# one asks the URL; the answer is printed. Everything ends with the script.
set -eu

if [ -z "${BARE_LAB_INSIDE-}" ]; then
  export BARE_LAB_INSIDE=yes LC_ALL=C PATH=$PATH:/usr/sbin:/sbin
  [ $EUID = 0 ] && user=() || user=(--user --map-root-user)
  exec unshare "${user[@]}" --net --mount --pid --ipc --uts --fork --kill-child --mount-proc bash "$0" "$@"
fi

cd "$1"
mount -t tmpfs tmpfs /run
echo "begin $EPOCHREALTIME"

# set_up HOST, run where the host is: its sysctls, links, addresses and routes, and a node's rules.
set_up='
while read -r path value; do echo "$value" > "/proc/sys/$path"; done < "$1.sysctls"
ip -batch "$1.ip"
if [ -e "$1.rules" ]; then iptables-nft-restore < "$1.rules"; fi
'
server='
my $listener = IO::Socket::INET->new(LocalPort => 80, Listen => 128, ReuseAddr => 1) or die $!;
my $body = "pod $ARGV[0]\n";
while (my $peer = $listener->accept) {
  while (<$peer>) { last if /^\r?$/ }
  print $peer "HTTP/1.0 200 OK\r\nContent-Length: ", length $body, "\r\n\r\n$body";
  close $peer;
}
'

while read -r path value; do echo "$value" > "/proc/sys/$path"; done < switch.sysctls
ip -batch links
pods=()
while read -r host kind; do
  nsenter --net="/run/netns/$host" sh -c "$set_up" sh "$host"
  if [ "$kind" = pod ] && [ $# = 2 ]; then
    pods+=("$host")
    nsenter --net="/run/netns/$host" perl -MIO::Socket::INET -e "$server" "$host" &
  fi
done < hosts
ip -batch ports
echo "laid $EPOCHREALTIME"

[ $# = 2 ] || exit 0
for _ in {1..50}; do
  nsenter --net="/run/netns/${pods[0]}" curl -s -m 1 "$2" && exit
done
exit 1
