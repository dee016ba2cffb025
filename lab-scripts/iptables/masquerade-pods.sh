#!/bin/sh
# MASQUERADE: lets the pods of this node reach hosts outside the cluster.
#
#   sh masquerade-pods.sh on
#   sh masquerade-pods.sh off
#
# A host outside, such as the client, has no way back to a pod's address: it sees the pod's packet
# come, and its answer gets lost. So the node puts its own address in place of the pod's, and turns
# the answers back.
#
# Where: table nat, chain POSTROUTING, the last hook before a packet leaves. Only there is it known
# by which interface it goes, and so which address of the node it is to carry. Traffic between pods
# is left as it is: in a cluster a pod sees the other pod's own address. Only the first packet of a
# connection meets the nat table; the kernel does the same for all the others, and the reverse for
# the answers.
#
# See it, before and after, from a pod of this node:
#   curl -m 2 http://172.18.0.254/       nothing listens there. before: a time-out, for the client's
#                                        answer does not find back; after: "refused" at once, which
#                                        is the answer
#   tcpdump -nn -i eth0 tcp port 80      in the client meanwhile: the pod's address, then the node's
#   conntrack -E -d 172.18.0.254         in the node meanwhile: both halves of the connection. In the
#                                        second one the answer is expected at the node's address
# Undo: off removes the rule. A connection that is open keeps its translation until it ends.

. "$(dirname "$0")/common.sh"

bridge=cni0
cluster=10.244.0.0/16 # the pods of all nodes

case "${1-} $#" in
  'on 1')
    pods=$(ip -4 route show dev $bridge proto kernel | cut -d ' ' -f 1)
    [ -n "$pods" ] || { echo "no pods hang on a bridge $bridge here; run this in a node" >&2; exit 1; }
    add nat -A POSTROUTING -s "$pods" ! -d $cluster -j MASQUERADE
    ;;
  'off 1') remove_all nat ;;
  *) usage ;;
esac
show nat POSTROUTING
