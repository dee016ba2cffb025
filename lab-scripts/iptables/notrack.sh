#!/bin/sh
# NOTRACK: keeps a port's traffic out of connection tracking, and so out of nat.
#
#   sh notrack.sh on PROTOCOL PORT
#   sh notrack.sh off
#
# For example: sh notrack.sh on tcp 80, or: sh notrack.sh on udp 53
#
# Where: table raw, the only one that a packet meets before connection tracking. PREROUTING has what
# comes in, OUTPUT what the node sends; --dport is the way there and --sport the way back. Used
# where many short exchanges would fill the tracking table: the DNS cache on Kubernetes nodes makes
# rules like these for its own address.
#
# The price: nat works on tracked connections only. A Service's address stays as it is, no endpoint
# is chosen, and the packet is lost, while a pod's own address works as before.
#
# See it, from a pod of this node, with "on tcp 80":
#   curl -m 2 http://10.107.38.142/      the Service of the http-server example: a time-out
#   curl -m 2 http://10.244.2.8/         one of its pods: an answer
#   conntrack -L -p tcp --dport 80       in the node: no entry for either
#   iptables -t nat -vnL KUBE-SERVICES   in the node: the Service's counter stands still
# Undo: off removes the rules. What is tracked already stays so: start anew to see a change.

. "$(dirname "$0")/common.sh"

case "${1-} $# ${2-}" in
  'on 3 tcp' | 'on 3 udp')
    for chain in PREROUTING OUTPUT; do
      add raw -A $chain -p "$2" --dport "$3" -j CT --notrack
      add raw -A $chain -p "$2" --sport "$3" -j CT --notrack
    done
    ;;
  'off 1 ') remove_all raw ;;
  *) usage ;;
esac
show raw PREROUTING OUTPUT
