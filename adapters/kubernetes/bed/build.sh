#!/bin/sh
# Builds etcd, kube-apiserver, kube-scheduler, kubectl and kwok from the Go module proxy, each in a module
# of its own, and prints the directory of the binaries. What is there is not built again.
# kube-apiserver takes minutes. With PEERS=1 kube-scheduler with coscheduling and Kueue are built as
# well, and Volcano if VOLCANO is a checkout of it (1.15.1). Their CRDs are put beside.
set -e
K8S=1.35.0 MINOR=35.0 ETCD=3.6.6 KWOK=0.7.0 PLUGINS=0.33.5 KUEUE=0.17.0
GO=${GO:-go}
cache=${AUCSCHED_KUBE_BED:-${XDG_CACHE_HOME:-$HOME/.cache}/aucsched-kube}/$K8S-$ETCD-$KWOK
export GOWORK=off CGO_ENABLED=0 GOFLAGS=-buildvcs=false
mkdir -p "$cache"

# crds NAME DIR: the CRDs of DIR.
crds() {
	mkdir -p "$cache/$1"
	cp -f "$2"/*.yaml "$cache/$1"
}

# gomod MODULE VERSION: the path of the module's go.mod.
gomod() {
	$GO mod download -json "$1@v$2" | sed -n 's/.*"GoMod": "\(.*\)",/\1/p'
}

# replaces MODULE VERSION: k8s.io/kubernetes requires its staging modules at v0.0.0; this pins them
# to the release. scheduler-plugins does so itself.
replaces() {
	case $1 in
	k8s.io/kubernetes) sed -n "s|^\t\(k8s.io/[a-z-]*\) => ./staging/.*|replace \1 => \1 v0.$MINOR|p" "$(gomod "$@")" ;;
	*/scheduler-plugins) sed -n '/^replace (/,/^)/p; /^replace [^(]/p' "$(gomod "$@")" ;;
	esac
}

# build NAME PACKAGE MODULE VERSION [FLAGS]: $cache/NAME from PACKAGE of that version of MODULE.
build() {
	[ -x "$cache/$1" ] && return
	echo "building $1 ($3 $4)" >&2
	dir=$(mktemp -d)
	(
		cd "$dir"
		printf 'module build\n\ngo 1.25.0\n\nrequire %s v%s\n' "$3" "$4" >go.mod
		replaces "$3" "$4" >>go.mod
		printf 'package main\n\nimport _ "%s"\n' "$2" >tools.go
		$GO mod tidy -e >tidy.log 2>&1 || { cat tidy.log >&2; exit 1; }
		$GO build -trimpath -ldflags "-s -w $5" -o "$cache/$1.new" "$2" >&2
	) || { rm -rf "$dir"; exit 1; }
	rm -rf "$dir"
	mv "$cache/$1.new" "$cache/$1"
}

at=k8s.io/component-base/version
stamp="-X $at.gitVersion=v$K8S -X $at.gitMajor=1 -X $at.gitMinor=${MINOR%.*}"
build etcd go.etcd.io/etcd/server/v3 go.etcd.io/etcd/server/v3 $ETCD
build kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver k8s.io/kubernetes $K8S "$stamp"
build kube-scheduler k8s.io/kubernetes/cmd/kube-scheduler k8s.io/kubernetes $K8S "$stamp"
build kubectl k8s.io/kubernetes/cmd/kubectl k8s.io/kubernetes $K8S "$stamp"
build kwok sigs.k8s.io/kwok/cmd/kwok sigs.k8s.io/kwok $KWOK
if [ -n "${PEERS-}" ]; then
	plugins=sigs.k8s.io/scheduler-plugins
	build coscheduling $plugins/cmd/scheduler $plugins $PLUGINS
	build kueue sigs.k8s.io/kueue/cmd/kueue sigs.k8s.io/kueue $KUEUE
	dir() { $GO mod download -json "$1" | sed -n 's/.*"Dir": "\(.*\)",/\1/p'; }
	cp -f "$(dir $plugins@v$PLUGINS)/config/crd/bases/scheduling.x-k8s.io_podgroups.yaml" "$cache/podgroups.yaml"
	crds kueue-crds "$(dir sigs.k8s.io/kueue@v$KUEUE)/config/components/crd/bases"
	if [ -n "${VOLCANO-}" ]; then
		[ -x "$cache/volcano" ] || (cd "$VOLCANO" && $GO build -trimpath -ldflags "-s -w" -o "$cache/volcano" ./cmd/scheduler >&2)
		crds volcano-crds "$VOLCANO/config/crd/volcano/bases"
	fi
fi
echo "$cache"
