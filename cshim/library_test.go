// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	release "github.com/aucsched/aucsched/internal/version"
)

// built is the library in a directory of its own, which lasts as long as the tests, or
// why there is none.
type built struct {
	dir     string
	missing string // what a machine without C lacks
	err     error
}

// libraryDir is to be removed in the end.
var libraryDir string

var build = sync.OnceValue(func() (b built) {
	if runtime.GOOS != "linux" {
		return built{missing: "the library is tested on Linux only"}
	}
	if out, err := exec.Command("go", "env", "CGO_ENABLED").Output(); err != nil || strings.TrimSpace(string(out)) != "1" {
		return built{missing: "cgo is off, or there is no go command"}
	}
	if _, err := exec.LookPath("cc"); err != nil {
		return built{missing: "there is no C compiler"}
	}
	if b.err = depend("aucsched.map"); b.err != nil {
		return b
	}
	script, err := filepath.Abs("aucsched.map")
	if err != nil {
		return built{err: err}
	}
	if b.dir, b.err = os.MkdirTemp("", "libaucsched"); b.err != nil {
		return b
	}
	libraryDir = b.dir
	// With -trimpath, as the plug-ins' Makefile has it, so that Go compiles all of it once.
	out, err := exec.Command("go", "build", "-trimpath", "-buildmode=c-shared", "-ldflags", "-extldflags=-Wl,--version-script="+script,
		"-o", filepath.Join(b.dir, "libaucsched.so"), ".").CombinedOutput()
	if err != nil {
		b.err = fmt.Errorf("%w: %s", err, out)
	}
	return b
})

// library builds libaucsched.so on the first call, or skips in words.
func library(t *testing.T) (dir string) {
	t.Helper()
	b := build()
	if b.missing != "" {
		t.Skip(b.missing)
	}
	require.NoError(t, b.err)
	return b.dir
}

func TestMain(m *testing.M) {
	code := m.Run()
	if libraryDir != "" {
		os.RemoveAll(libraryDir)
	}
	os.Exit(code)
}

// depend tells the go command that a test's result depends on a file, which another
// program reads: it would be taken from the cache otherwise.
func depend(path string) error {
	_, err := os.ReadFile(path)
	return err
}

// compile runs the C compiler on sources of this directory.
func compile(t *testing.T, compiler string, args ...string) {
	t.Helper()
	for _, arg := range args {
		if strings.HasSuffix(arg, ".c") {
			require.NoError(t, depend(arg))
		}
	}
	out, err := exec.Command(compiler, args...).CombinedOutput()
	require.NoError(t, err, "%s %v: %s", compiler, args, out)
}

func linked(dir string, args ...string) []string {
	return append(args, "-I.", "-L"+dir, "-laucsched", "-Wl,-rpath,"+dir, "-lpthread")
}

// sanitizers are the flags for the sanitizers of memory and of undefined behaviour, or none,
// in words, where a program that uses them can't be made and run.
func sanitizers(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	source, program := filepath.Join(dir, "empty.c"), filepath.Join(dir, "empty")
	require.NoError(t, os.WriteFile(source, []byte("int main(void) { return 0; }\n"), 0o600))
	flags := []string{"-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"}
	if exec.Command("cc", append(flags, source, "-o", program)...).Run() != nil || exec.Command(program).Run() != nil {
		t.Log("no sanitizers here: going on without")
		return nil
	}
	return flags
}

// ctest.c uses the library as a C program does, under sanitizers. LeakSanitizer gets
// along with the Go runtime: what C code allocates and loses is found at the end, also
// what a handle has allocated.
func TestFromC(t *testing.T) {
	dir := library(t)
	program := filepath.Join(dir, "ctest")
	args := append([]string{"-std=c11", "-D_GNU_SOURCE", "-g", "-O1", "-Wall", "-Wextra",
		"-Werror", "ctest/ctest.c", "-o", program}, sanitizers(t)...)
	compile(t, "cc", linked(dir, args...)...)
	kind := "plain"
	if len(sanitizers(t)) > 0 {
		kind = "sanitized"
	}
	c := exec.Command(program, kind)
	c.Env = append(os.Environ(), "ASAN_OPTIONS=detect_leaks=1:quarantine_size_mb=4", "UBSAN_OPTIONS=print_stacktrace=1")
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "all is well")
	t.Logf("%s:\n%s", kind, out)
}

// Once the library is loaded it needs no thread that it has not, nor memory beyond memory_mb.
func TestLimits(t *testing.T) {
	dir := library(t)
	program := filepath.Join(dir, "limits")
	compile(t, "cc", linked(dir, "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "ctest/limits.c", "-ldl", "-o", program)...)
	for _, processors := range []string{"1", "2", "16"} {
		c := exec.Command(program)
		// GOGC: much for the collector to do.
		c.Env = append(os.Environ(), "GOMAXPROCS="+processors, "GOGC=5")
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s processors: %s", processors, out)
		require.Contains(t, string(out), "all is well")
		t.Logf("%s processors: %s", processors, out)
	}
}

func TestExample(t *testing.T) {
	dir := library(t)
	program := filepath.Join(dir, "example")
	compile(t, "cc", linked(dir, "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "../examples/c/example.c", "-o", program)...)
	out, err := exec.Command(program).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, `J1 starts: 4 cores and 0 GPUs on each of n1-n1024
J2 starts: 4 cores and 2 GPUs on each of n1-n512
J3 starts: 4 cores and 2 GPUs on each of n513-n1024
`, string(out))
}

var prototype = regexp.MustCompile(`(?m)^[a-z].*\b(aucsched_[a-z_]+)\([^;{}]*\);$`)

func declared(t *testing.T) []string {
	t.Helper()
	header, err := os.ReadFile("aucsched.h")
	require.NoError(t, err)
	var names []string
	for _, m := range prototype.FindAllStringSubmatch(string(header), -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	require.Len(t, names, 17)
	return names
}

// The library exports what the header declares and nothing else.
func TestExportedSymbols(t *testing.T) {
	dir := library(t)
	if _, err := exec.LookPath("nm"); err != nil {
		t.Skip("there is no nm")
	}
	out, err := exec.Command("nm", "-D", "--defined-only", "--format=posix", filepath.Join(dir, "libaucsched.so")).Output()
	require.NoError(t, err)
	var names []string
	for line := range strings.Lines(string(out)) {
		names = append(names, strings.Fields(line)[0])
	}
	slices.Sort(names)
	require.Equal(t, declared(t), names)
	libs, err := exec.Command("nm", "-D", "--undefined-only", filepath.Join(dir, "libaucsched.so")).Output()
	require.NoError(t, err)
	require.NotContains(t, string(libs), "Highs", "HiGHS runs in a process of its own")
}

func TestHeaderAlone(t *testing.T) {
	source := filepath.Join(t.TempDir(), "header")
	text := "#include \"aucsched.h\"\n#include \"aucsched.h\"\nint main(void) { return sizeof(struct aucsched_input) == 0; }\n"
	for _, c := range []struct{ compiler, suffix, standard string }{
		{"cc", ".c", "c99"}, {"cc", ".c", "c11"}, {"c++", ".cc", "c++11"}, {"c++", ".cc", "c++17"},
	} {
		t.Run(c.standard, func(t *testing.T) {
			if _, err := exec.LookPath(c.compiler); err != nil {
				t.Skipf("there is no %s", c.compiler)
			}
			require.NoError(t, os.WriteFile(source+c.suffix, []byte(text), 0o600))
			compile(t, c.compiler, "-std="+c.standard, "-pedantic", "-Wall", "-Wextra", "-Werror", "-I.", "-fsyntax-only", source+c.suffix)
		})
	}
}

// The file for pkg-config names every variable that the Makefile has to fill in.
func TestPkgConfigFile(t *testing.T) {
	text, err := os.ReadFile("aucsched.pc.in")
	require.NoError(t, err)
	require.Equal(t, []string{"@PREFIX@", "@VERSION@"}, regexp.MustCompile(`@\w+@`).FindAllString(string(text), -1))
	if _, err := exec.LookPath("pkg-config"); err != nil {
		t.Skip("there is no pkg-config")
	}
	dir := t.TempDir()
	filled := strings.NewReplacer("@PREFIX@", "/opt/a", "@VERSION@", release.Number).Replace(string(text))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "aucsched.pc"), []byte(filled), 0o600))
	c := exec.Command("pkg-config", "--libs", "--cflags", "--modversion", "aucsched")
	c.Env = append(os.Environ(), "PKG_CONFIG_PATH="+dir)
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), release.Number)
}
