// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ctest.c decides with the library as a C program does, now and then with auction1 and ipsched, and
// checks what it decides. Its own test has the sanitizers.
func TestFromC(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the library is tested on Linux only")
	}
	if out, err := exec.Command("go", "env", "CGO_ENABLED").Output(); err != nil || strings.TrimSpace(string(out)) != "1" {
		t.Skip("cgo is off, or there is no go command")
	}
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("there is no C compiler")
	}
	dir, shim := t.TempDir(), filepath.Join("..", "..", "..", "cshim")
	library, program := filepath.Join(dir, "libaucsched-older.so"), filepath.Join(dir, "ctest")
	out, err := exec.Command("go", "build", "-trimpath", "-buildmode=c-shared", "-o", library, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command("cc", "-std=c11", "-D_GNU_SOURCE", "-DOLDER", "-I"+shim, filepath.Join(shim, "ctest", "ctest.c"),
		library, "-Wl,-rpath,"+dir, "-lpthread", "-o", program).CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command(program, "plain").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "all is well")
}
