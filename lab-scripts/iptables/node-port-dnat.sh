#!/bin/sh
# DNAT: a port of this node leads to a pod, made by hand. It is what a NodePort Service does, for
# one pod.
#
#   sh node-port-dnat.sh on NODE_PORT POD_IP:PORT
#   sh node-port-dnat.sh off
#
# For example: sh node-port-dnat.sh on 30999 10.244.2.8:80
#
# Where: table nat. PREROUTING gets what comes from outside before the node has decided where it
# goes, so that the new destination is the one that is routed. OUTPUT gets what the node itself
# sends, which never passes PREROUTING. "--dst-type LOCAL" means any address of the node's own.
# The third rule, in POSTROUTING, puts the node's address in place of the sender's: a pod on another
# node would else answer the sender directly, with an address that the sender never called.
# "--ctorigdstport" finds these connections by the port that they were made to, for the packet
# itself shows the pod's port by now.
#
# See it: curl http://172.18.0.3:30999/ from the client, with your node's address. The pod's answer
# names the peer that it saw: the node. "conntrack -L -p tcp" in the node shows both halves of the
# translation.
# Undo: off removes the rules of every port that this script has opened. The first rule for a port
# wins, so switch it off before you lead the port to another pod.

. "$(dirname "$0")/common.sh"

case "${1-} $# ${3-}" in
  'on 3 '?*:?*)
    port=$2 pod=$3
    set -- -p tcp --dport "$port" -m addrtype --dst-type LOCAL -j DNAT --to-destination "$pod"
    add nat -A PREROUTING "$@"
    add nat -A OUTPUT "$@"
    add nat -A POSTROUTING -p tcp -d "${pod%:*}" --dport "${pod##*:}" \
      -m conntrack --ctstate DNAT --ctorigdstport "$port" -j MASQUERADE
    ;;
  'off 1 ') remove_all nat ;;
  *) usage ;;
esac
show nat PREROUTING OUTPUT POSTROUTING
