//go:build tools

package highs

// scripts/highs.sh links the static library that this module carries; the import
// keeps the module in go.mod.
import _ "github.com/bartolsthoorn/gohighs/highs"
