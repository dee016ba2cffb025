#!/bin/sh
# TTL: sets the time to live of every packet that leaves this node for the network.
#
#   sh ttl.sh on TTL
#   sh ttl.sh off
#
# For example: sh ttl.sh on 64
#
# Each router takes one off a packet's TTL, and drops it at zero. A node is the router of its pods:
# their packets start with 64 and come out with 63. With 64 set again the step through the node is
# no longer to be seen, which is how a phone or a home router hides what is behind it.
#
# Where: table mangle, which is for changing packets, and chain POSTROUTING: after routing has taken
# its one off, just before the packet goes out by eth0. Every packet meets mangle, not only a
# connection's first one, as in nat.
#
# See it: ping -c 1 172.18.0.4 from a pod of this node, with another node's address, and in that
# node meanwhile
#   tcpdump -v -nn -i eth0 icmp          "ttl 63" before, "ttl 64" after "on 64"
# Then try "on 1": the other nodes still answer, but none of their pods does. Their node would have to
# pass the packet on, finds nothing left to take off, and says "time exceeded". The same tcpdump in
# this node shows it, while a pod of this node calls one of another.
# Undo: off removes the rule.

. "$(dirname "$0")/common.sh"

case "${1-} $#" in
  'on 2')
    remove_all mangle # one TTL at a time
    add mangle -A POSTROUTING -o eth0 -j TTL --ttl-set "$2"
    ;;
  'off 1') remove_all mangle ;;
  *) usage ;;
esac
show mangle POSTROUTING
