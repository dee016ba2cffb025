export const RESTORE_TITLE =
  "Write kube-proxy's rules of this node again: what was added by hand to its own chains goes, other chains stay"
