// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package malleable

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The same program in each language. It prints its changes, and ends after one with three cores.

const inC = `
#include "aucsched_malleable.h"
#include <stdio.h>
int main(void)
{
	struct aucsched_job job;
	struct aucsched_change change;
	if (aucsched_open(&job) != 0)
		return 9;
	for (;;) {
		size_t i;
		if (aucsched_poll(&job, -1, &change) != 1)
			return 8;
		printf("%u:", change.number);
		for (i = 0; i < change.ncores && i < 9; i++)
			printf(" %d", change.cores[i]);
		printf(" on %d CPUs\n", (int)change.ncpus);
		fflush(stdout);
		if (change.ncores == 1)
			aucsched_keep(&job, &change, "in\nthe middle");
		else
			aucsched_done(&job, &change);
		if (change.ncores == 4)
			aucsched_want(&job, 2);
		i = change.ncores;
		aucsched_free(&change);
		if (i == 3)
			break;
	}
	aucsched_close(&job);
	return 0;
}
`

func TestInC(t *testing.T) {
	cc := tool(t, "cc", "a C compiler")
	dir := t.TempDir()
	write(t, dir, "job.c", inC)
	run(t, cc, append(strict, "-std=c99", "-pedantic", "-Ic", "-o", dir+"/job", dir+"/job.c", "c/aucsched_malleable.c")...)
	adapts(t, dir+"/job")
}

// strict are options of compilers.
var strict = []string{"-Wall", "-Wextra", "-Werror", "-O1", "-g", "-fsanitize=address,undefined"}

const inFortran = `
program job
  use aucsched_malleable
  implicit none
  type(aucsched_job) :: j
  type(aucsched_change) :: change
  integer :: status, i
  call aucsched_open(j, status)
  if (status /= 0) stop 9
  do
    if (.not. aucsched_poll(j, -1, change)) stop 8
    write (*, '(i0, ":")', advance='no') change%number
    do i = 1, min(size(change%cores), 9)
      write (*, '(1x, i0)', advance='no') change%cores(i)
    end do
    write (*, '(" on ", i0, " CPUs")') size(change%cpus)
    if (size(change%cores) == 1) then
      call aucsched_keep(j, change, 'in' // char(10) // 'the middle')
    else
      call aucsched_done(j, change)
    end if
    if (size(change%cores) == 4) call aucsched_want(j, 2)
    if (size(change%cores) == 3) exit
  end do
  call aucsched_close(j)
end program
`

func TestInFortran(t *testing.T) {
	fortran, cc := tool(t, "gfortran", "a Fortran compiler"), tool(t, "cc", "a C compiler")
	dir := t.TempDir()
	write(t, dir, "job.f90", inFortran)
	run(t, cc, append(strict, "-std=c99", "-c", "-o", dir+"/lines.o", "c/aucsched_malleable.c")...)
	run(t, fortran, append(strict, "-std=f2003", "-pedantic", "-J"+dir, "-o", dir+"/job",
		"fortran/aucsched_malleable.f90", dir+"/job.f90", dir+"/lines.o")...)
	adapts(t, dir+"/job")
}

const inPython = `
import sys
import aucsched_malleable

try:
    client = aucsched_malleable.connect()
except aucsched_malleable.NotRunByAucsched:
    sys.exit(9)
with client:
    for change in client:
        print("%d:" % change.number, *change.places[:9], "on", len(change.cpus), "CPUs", flush=True)
        if len(change.places) == 1:
            client.keep(change, "in\nthe middle")
        else:
            client.done(change)
        if len(change.places) == 4:
            client.want(2)
        if len(change.places) == 3:
            break
`

func TestInPython(t *testing.T) {
	adapts(t, python(t, inPython)...)
}

// python is the command of a program that has the client.
func python(t *testing.T, program string) []string {
	interpreter := tool(t, "python3", "Python")
	lines, err := filepath.Abs("python")
	require.NoError(t, err)
	t.Setenv("PYTHONPATH", lines)
	t.Setenv("PYTHONDONTWRITEBYTECODE", "1")
	return []string{interpreter, "-W", "error", "-c", program}
}

func tool(t *testing.T, name, what string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("needs %s, %s", what, name)
	}
	return path
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

// adapts has the program grow and shrink, refuse, lose its server and find the next one.
func adapts(t *testing.T, command ...string) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	b := newBed(t, dir, me())
	job := exec.Command(command[0], command[1:]...)
	job.Env = append(os.Environ(), Variable+"="+b.path)
	var said strings.Builder
	job.Stdout, job.Stderr = &said, os.Stderr
	require.NoError(t, job.Start())
	b.hears(Request{Verb: Hello})
	b.server.Send(7, Change{Number: 1, Cores: []int{0, 1, 2, 9}, CPUs: []int{0, 1}})
	b.hears(Request{Verb: Done, Number: 1})
	b.hears(Request{Verb: Want, Number: 2})
	b.server.Send(7, Change{Number: 2, Cores: []int{5}, CPUs: []int{1}})
	b.hears(Request{Verb: Keep, Number: 2, Text: "in?the middle"})
	b.close() // and it comes again
	b.hears(Request{Verb: Gone})
	b = newBed(t, dir, me())
	defer b.close()
	b.hears(Request{Verb: Hello})
	b.hears(Request{Verb: Want, Number: 2})
	var many []int
	for i := range 50000 {
		many = append(many, 2*i) // a line of 290 kB
	}
	b.server.Send(7, Change{Number: 5, Cores: many, CPUs: []int{0}})
	b.hears(Request{Verb: Done, Number: 5})
	b.server.Send(7, Change{Number: 6, Cores: []int{7, 8, 9}, CPUs: []int{0}})
	b.hears(Request{Verb: Done, Number: 6})
	require.NoError(t, job.Wait())
	lines := strings.Split(said.String(), "\n")
	require.Equal(t, "1: 0 1 2 9 on 2 CPUs", lines[0])
	require.Equal(t, "2: 5 on 1 CPUs", lines[1])
	require.Equal(t, "6: 7 8 9 on 1 CPUs", lines[3])

	require.Equal(t, 9, exec.Command(command[0], command[1:]...).Run().(*exec.ExitError).ExitCode())
}

// oneLine prints what a Python client makes of lines: a change, or why there is none.
const oneLine = `
import sys
import aucsched_malleable

for line in sys.stdin.buffer.read().split(b"\n")[:-1]:
    try:
        change = aucsched_malleable.parse_change(line.decode("ascii", "backslashreplace"))
    except aucsched_malleable.LineError as e:
        print("LineError:", str(e).encode("unicode_escape").decode())
    else:
        print(change.number, list(change.places), list(change.cpus))
`

// The parser in Python takes the lines that ParseChange takes, and no others.
func TestPythonParsesAsGo(t *testing.T) {
	command := python(t, oneLine)
	rng := rand.New(rand.NewPCG(1, 2))
	lines := []string{
		"", "bye", "cores", "cores 1 0", "cores 1 0 0 ", "cores  1 0 0", "cores 01 0 0", "cores 4294967296 0 0",
		"cores 4294967295 0 0",
		"cores 1 16777215 0", "cores 1 16777216 0", "cores 1 3-1 0", "cores 1 1,1 0", "cores 1 1-3,3 0", "cores 1 -1 0",
		"cores 1 1- 0", "cores 1 +1 0", "cores 1 1_0 0", "cores 1 ١ 0", "cores 1 \xff 0", "cores 1 0\r 0", "cores 1 0 0\r",
		"cores 1 0\x00 0", "CORES 1 0 0", "cores 1 0-2-3 0", "cores 1 99999999999999999999999 0", "cores 1 0, 0", "cores 1 ,0 0",
		"cores\t1 0 0", "cores 1 1-1 0",
	}
	good := "cores 12 0-3,6,9-11 0-1,7"
	for n := range len(good) { // those that break off
		lines = append(lines, good[:n])
	}
	for range 3000 { // those with some bytes changed
		line := []byte(good)
		for range 1 + rng.IntN(3) {
			line[rng.IntN(len(line))] = "0123456789-, cx\x00\xff"[rng.IntN(17)]
		}
		lines = append(lines, string(line))
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	require.Len(t, got, len(lines))
	taken := 0
	for i, line := range lines {
		change, err := ParseChange(line)
		if err != nil {
			require.Regexp(t, `^LineError: (line '|list ')`, got[i], "%q", line)
			continue
		}
		taken++
		list := func(n []int) string { return strings.ReplaceAll(fmt.Sprint(n), " ", ", ") }
		require.Equal(t, fmt.Sprint(change.Number, " ", list(change.Cores), " ", list(change.CPUs)), got[i], "%q", line)
	}
	require.Greater(t, taken, 50)
}

// whyLost prints why the connection is lost, whenever it is.
const whyLost = `
import aucsched_malleable

client = aucsched_malleable.connect()
while True:
    change = client.poll(0.01)
    if change is not None:
        client.done(change)
    elif client.problem is not None:
        print(client.problem, flush=True)
        client.problem = None
`

// A client in Python says why it has lost its connection, and makes another one.
func TestPythonSaysWhatIsWrong(t *testing.T) {
	command := python(t, whyLost)
	path := filepath.Join(t.TempDir(), "s")
	listen, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	require.NoError(t, err)
	defer listen.Close()
	job := exec.Command(command[0], command[1:]...)
	job.Env = append(os.Environ(), Variable+"="+path)
	out, err := job.StdoutPipe()
	require.NoError(t, err)
	says := bufio.NewScanner(out)
	require.NoError(t, job.Start())
	defer func() { _ = job.Process.Kill(); _ = job.Wait() }()
	for _, c := range []struct{ says, why string }{
		{"cores 1 0-", "it has closed the connection in the middle of a line, 'cores 1 0-'"},
		{"bye too loud\n", "bye too loud"},
		{"cores 1 0 0\nbye\n", "bye"},
		{"cores 1 0 0\ncores 2 0 x\n", "line 'cores 2 0 x': 'x' is no number up to 16777215"},
		{"\xff\xfe\n", `line '\\xff\\xfe': must be cores NUMBER CORES CPUS`},
		{strings.Repeat("x", MaxCoresLine+2), "a line of more than 1048576 bytes"},
		{"", "it has closed the connection"},
	} {
		require.NoError(t, listen.SetDeadline(time.Now().Add(patience)))
		conn, err := listen.Accept()
		require.NoError(t, err)
		require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
		_, _ = conn.Write([]byte(c.says)) // it may close before it has read all
		require.NoError(t, conn.(*net.UnixConn).CloseWrite())
		require.True(t, says.Scan(), says.Err())
		require.Equal(t, path+": "+c.why, says.Text())
		conn.Close()
	}
}

// theNodes prints what nodes makes of each file.
const theNodes = `
import sys
import aucsched_malleable

for path in sys.argv[1:]:
    try:
        print(sorted(aucsched_malleable.nodes({"AUCSCHED_CREW_NODES": path}).items()))
    except aucsched_malleable.LineError as e:
        print(e)
try:
    aucsched_malleable.nodes({})
except aucsched_malleable.NotRunByAucsched as e:
    print(e)
`

func TestPythonReadsNodes(t *testing.T) {
	command := python(t, theNodes)
	dir := t.TempDir()
	var want []string
	wrong := ": must be PLACE NODE, each place once"
	for i, c := range []struct{ text, want string }{
		{"0 n0\n12 rack-2.n5\n", "[(0, 'n0'), (12, 'rack-2.n5')]"},
		{"", "[]"},
		{"0 n0\n1\n", "line 2: '1\\n'" + wrong},
		{"0 n0\n0 n1\n", "line 2: '0 n1\\n'" + wrong},
		{"0 n0 n1\n", "line 1: '0 n0 n1\\n'" + wrong},
		{"-1 n0\n", "line 1: place: '-1' is no number up to 16777215"},
		{"\n", "line 1: place: '' is no number up to 16777215"},
	} {
		path := fmt.Sprint(dir, "/", i)
		require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
		if strings.HasPrefix(c.want, "line") {
			c.want = path + ": " + c.want
		}
		command, want = append(command, path), append(want, c.want)
	}
	command = append(command, dir+"/none") // before the first change
	want = append(want, "[]", "AUCSCHED_CREW_NODES is not set: no aucsched crew runs this program", "")
	require.Equal(t, want, strings.Split(run(t, command[0], command[1:]...), "\n"))
}
