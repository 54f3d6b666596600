#!/bin/sh
# Makes invasive/wire/pb/invasive.pb.go from invasive.proto. The generator for Go is the module's own tool
# (go.mod pins it); protoc is Debian's protobuf-compiler.
set -eu

cd "$(dirname "$0")/../invasive/wire/pb"
command -v protoc >/dev/null || { echo "protobuf.sh: protoc is missing: install protobuf-compiler" >&2; exit 1; }
plugin=$(${GO:-go} tool -n protoc-gen-go)
[ -x "$plugin" ] || { ${GO:-go} tool protoc-gen-go --version >/dev/null; plugin=$(${GO:-go} tool -n protoc-gen-go); }
protoc --plugin=protoc-gen-go="$plugin" --go_out=paths=source_relative:. invasive.proto
# Which protoc it was says nothing that matters, and differs from machine to machine.
sed -i '/^\/\/ 	protoc  *v/d' invasive.pb.go
