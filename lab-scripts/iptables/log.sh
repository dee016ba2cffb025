#!/bin/sh
# LOG and NFLOG: report each new TCP connection to a port.
#
#   sh log.sh on PORT
#   sh log.sh off
#
# For example: sh log.sh on 32054
#
# Where: table mangle, chain PREROUTING. It comes after connection tracking, so "--ctstate NEW" can
# be asked, and before nat, so a NodePort still has its own number; in INPUT or FORWARD a pod's port
# would stand in its place. It sees what comes to this node from others, not what the node itself
# sends. Neither target decides anything: the packet goes on to the next rule.
#
# LOG writes a line to the kernel's log (dmesg, journalctl -k), at most 5 a second here, lest
# somebody fills it. But in a network namespace, as every node of a lab is, the kernel writes none,
# unless the machine's net.netfilter.nf_log_all_netns is 1: only the rule's counter shows that it
# was met.
# NFLOG hands a copy of the packet to whoever listens to the group, here 5, in this namespace.
#
# See it: call the port from the client, and in this node
#   iptables -t mangle -vnL PREROUTING   the counters: one more for each new connection
#   tcpdump -nn -i nflog:5               started before: a line for each new connection, up to a
#                                        second late, for the kernel gathers some first
# or, instead of tcpdump and outside of the lab, the same as lines of a kernel log:
#   chainwalk log node/NAME --group 5
# Undo: off removes the rules of every port.

. "$(dirname "$0")/common.sh"

case "${1-} $#" in
  'on 2')
    port=$2
    set -- -p tcp --dport "$port" -m conntrack --ctstate NEW
    add mangle -A PREROUTING "$@" -m limit --limit 5/second --limit-burst 20 \
      -j LOG --log-prefix "new to $port: "
    add mangle -A PREROUTING "$@" -j NFLOG --nflog-group 5 --nflog-prefix "new to $port"
    ;;
  'off 1') remove_all mangle ;;
  *) usage ;;
esac
show mangle PREROUTING
