#!/usr/bin/env bash
# Builds the real kube-proxy's iptables proxier, out of Debian's source package, with cost_test.go beside it. When it
# has run, `npm run bench -- rule-generation` runs that, too, and takes it as a baseline. Needs go, 1 GB of disk and
# some minutes; installs nothing.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
target=$(cd "$here/../../.." && pwd)/out/kube-proxy
command -v go >/dev/null || { echo 'go is missing: apt-get install golang-go' >&2; exit 3; }

work=$(mktemp -d)
trap 'chmod -R u+w "$work" && rm -rf "$work"' EXIT
mkdir -p "$work/apt/lists/partial" "$work/apt/sources" "$work/go/src/k8s.io/kubernetes"

# The machine's own package sources, asked for source packages; apt's own state is left alone.
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
  [ -f "$file" ] && sed -n 's/^deb /deb-src /p' "$file" >>"$work/apt/sources/own.list"
done
for file in /etc/apt/sources.list.d/*.sources; do
  [ -f "$file" ] && sed 's/^Types:.*/Types: deb-src/' "$file" >"$work/apt/sources/${file##*/}"
done
apt=(apt-get -qq -o Dir::State::lists="$work/apt/lists" -o Dir::Cache="$work/apt"
  -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/apt/sources" -o APT::Sandbox::User=)
"${apt[@]}" update
(cd "$work" && "${apt[@]}" source --download-only kubernetes)
tar -xf "$work"/kubernetes_*.orig.tar.* -C "$work/go/src/k8s.io/kubernetes" --strip-components 1

cp "$here/cost_test.go" "$work/go/src/k8s.io/kubernetes/pkg/proxy/iptables/"
mkdir -p "$target"
cd "$work/go/src/k8s.io/kubernetes"
GO111MODULE=off GOFLAGS= GOPATH="$work/go" GOCACHE="${GOCACHE:-$work/cache}" \
  go test -c -o "$target/cost.test" ./pkg/proxy/iptables
basename "$work"/kubernetes_*.dsc .dsc | cut -d_ -f2 >"$target/version"
echo "built kube-proxy's proxier $(cat "$target/version") into $target"
