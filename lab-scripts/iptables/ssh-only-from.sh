#!/bin/sh
# ACCEPT and DROP: SSH to this node, TCP port 22, from one address only.
#
#   sh ssh-only-from.sh on ADDRESS
#   sh ssh-only-from.sh off
#
# For example: sh ssh-only-from.sh on 172.18.0.254 (the client). Run it again with another address
# to let that in as well.
#
# Where: table filter, chain INPUT: SSH is for the node itself. Rules are asked from the top, and
# the first that decides ends the search, so the order is all: ACCEPT for the one address stands
# above DROP for everybody. Each rule is inserted on top (-I), so DROP is made first and ACCEPT then
# comes above it. Try what the other order does. DROP has no "--ctstate NEW", so that sessions from
# elsewhere which are open already stall as well. It holds for the node's calls to itself too.
#
# See it: no SSH server runs in the lab, and none is needed: without one a packet that is let
# through is answered by "refused", one that is dropped by nothing.
#   curl -m 2 http://172.18.0.3:22/      with your node's address. From the address: refused at
#                                        once. From elsewhere: a time-out
# Undo: off removes both rules. (On a real machine keep a second session open while you try this.)

. "$(dirname "$0")/common.sh"

case "${1-} $#" in
  'on 2')
    add filter -I INPUT -p tcp --dport 22 -j DROP
    add filter -I INPUT -p tcp --dport 22 -s "$2" -j ACCEPT
    ;;
  'off 1') remove_all filter ;;
  *) usage ;;
esac
show filter INPUT
