// SPDX-License-Identifier: BSD-3-Clause

// Package heat tests the program in this directory, which is in C.
package heat

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/race"
)

// built builds the program beside its script, in a directory of its own.
func built(t *testing.T) string {
	race.Slow(t)
	if testing.Short() {
		t.Skip("it starts some twenty mpiruns")
	}
	for _, tool := range []string{"mpicc", "mpirun", "ompi-server", "make"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is missing: it is in Debian's openmpi-bin, libopenmpi-dev or make", tool)
		}
	}
	dir := t.TempDir()
	out, err := exec.Command("make", "OUT="+dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
	script, err := os.ReadFile("heat.sh")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "heat.sh"), script, 0o755))
	// All places are this host. Nothing can be run on place 98, and nothing that ends on 99.
	on := "#!/bin/sh\ncase $1 in 98) exit 1 ;; 99) exec sleep 100 ;; esac\nshift 2\nexec \"$@\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "on"), []byte(on), 0o755))
	return dir
}

// heat runs the program. Each line that it prints is handed to line, and it returns its complaints.
func heat(t *testing.T, dir string, ranks int, env []string, line func(string), args ...string) string {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "heat.sh"), args...)
	cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "HEAT_ON="+dir+"/on",
		fmt.Sprint("HEAT_RANKS=", ranks), "HEAT_LIMIT=40",
		"HEAT_MPIRUN=--oversubscribe --bind-to none --mca mpi_yield_when_idle 1 --mca btl self,vader,tcp")
	cmd.Env = append(cmd.Env, env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	var wrong strings.Builder
	cmd.Stderr = &wrong
	pipe, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		t.Log(lines.Text())
		line(lines.Text())
	}
	require.NoError(t, cmd.Wait(), "%s", &wrong)
	return wrong.String()
}

// rigid is the sum of a run whose ranks stay.
func rigid(t *testing.T, dir string, ranks int, args ...string) (sum string) {
	require.Empty(t, heat(t, dir, ranks, nil, func(s string) { sum = s }, args...))
	require.Contains(t, sum, "sum")
	return sum
}

// A lead says which places there are, as aucsched crew run does.
type lead struct {
	path    string
	changes chan string // places
	ended   chan error  // when changes is closed and all are answered
}

func newLead(t *testing.T) *lead {
	l := &lead{path: filepath.Join(t.TempDir(), "lead"), changes: make(chan string, 10), ended: make(chan error, 1)}
	listen, err := net.Listen("unix", l.path)
	require.NoError(t, err)
	go func() {
		defer listen.Close()
		l.ended <- l.serve(listen)
	}()
	t.Cleanup(func() { listen.Close() })
	return l
}

func (l *lead) serve(listen net.Listener) error {
	conn, err := listen.Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(50 * time.Second)); err != nil {
		return err
	}
	in := bufio.NewScanner(conn)
	hears := func(line string) error {
		if !in.Scan() || in.Text() != line {
			return fmt.Errorf("the program says %q, not %q: %v", in.Text(), line, in.Err())
		}
		return nil
	}
	if err := hears("hello 1"); err != nil {
		return err
	}
	number := 0
	for places := range l.changes {
		number++
		if _, err := fmt.Fprintf(conn, "cores %d %s %s\n", number, places, places); err != nil {
			return err
		}
		if err := hears(fmt.Sprint("done ", number)); err != nil {
			return err
		}
	}
	return nil
}

var changed = regexp.MustCompile(`^heat: step \d+: (\d+ -> (\d+)) ranks`)

// runs has the program hear of places, each time when a change of ranks is over. It waits at some
// steps until the changes before have been. So it has time for all of them, however fast it is.
func runs(t *testing.T, dir string, ranks int, places, changes, args []string) (got []string, sum, wrong string) {
	l := newLead(t)
	for k, change := range changes {
		_, to, _ := strings.Cut(change, " -> ")
		args = append(args, "-w", fmt.Sprint(10+50*k, ":", to))
	}
	said := 1
	l.changes <- places[0]
	wrong = heat(t, dir, ranks, []string{"AUCSCHED_INVASIVE=" + l.path}, func(line string) {
		m := changed.FindStringSubmatch(line)
		if m == nil {
			sum = line
			return
		}
		got = append(got, m[1])
		if said < len(places) {
			l.changes <- places[said]
			said++
		}
	}, args...)
	close(l.changes)
	require.NoError(t, <-l.ended, "each change is answered")
	return got, sum, wrong
}

// Places come and go while the program runs: the field is that of a program whose ranks stay.
func TestRanksComeAndGo(t *testing.T) {
	dir := built(t)
	field := []string{"-n", "201", "-s", "300"}
	want := rigid(t, dir, 1, field...)
	require.Equal(t, want, rigid(t, dir, 4, field...))
	other := rigid(t, dir, 1, "-n", "201", "-s", "301")
	require.NotEqual(t, strings.Fields(want)[4], strings.Fields(other)[4], "the sum is of the field")

	for name, test := range map[string]struct {
		ranks   int      // of a place
		places  []string // of changes
		changes []string // of ranks
	}{
		"to 8 and 3": {1, []string{"0-1", "0-7", "0,2,6"}, []string{"1 -> 2", "2 -> 8", "8 -> 3"}},
		"to 5 and 1": {1, []string{"0,3-4", "0,3-6", "0"}, []string{"1 -> 3", "3 -> 5", "5 -> 1"}},
		// One goes, and another comes.
		"others": {2, []string{"0-2", "0,2,5"}, []string{"2 -> 6", "6 -> 4", "4 -> 6"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, sum, wrong := runs(t, dir, test.ranks, test.places, test.changes, slices.Clone(field))
			require.Empty(t, wrong)
			require.Equal(t, test.changes, got)
			require.Equal(t, want, sum)
		})
	}

	t.Run("places without ranks", func(t *testing.T) {
		got, sum, wrong := runs(t, dir, 1, []string{"0,3,98-99"}, []string{"1 -> 2"}, slices.Clone(field))
		require.Contains(t, wrong, "place 98 is left out: its command has ended")
		require.Equal(t, []string{"1 -> 2"}, got)
		require.Equal(t, want, sum)
	})
}

// A place that is lost, with its rows, ends all ranks. The program goes on from its checkpoint, on
// the places that there are then, to the same field.
func TestAPlaceIsLost(t *testing.T) {
	dir := built(t)
	field := []string{"-n", "201", "-s", "300"}
	want := rigid(t, dir, 1, field...)
	checkpoint := filepath.Join(dir, "checkpoint")
	listen, err := net.Listen("unix", filepath.Join(dir, "lead"))
	require.NoError(t, err)
	defer listen.Close()
	go func() {
		for _, places := range []string{"0-2", "0-1,3-4"} {
			conn, err := listen.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { conn.Close() })
			fmt.Fprintf(conn, "cores 1 %s %s\n", places, places)
		}
	}()
	var got []string
	var sum string
	env := []string{"AUCSCHED_INVASIVE=" + dir + "/lead", "HEAT_LIMIT=10", "HEAT_CHECKPOINT=" + checkpoint}
	wrong := heat(t, dir, 1, env, func(line string) {
		sum = line
		m := changed.FindStringSubmatch(line)
		if m == nil {
			return
		}
		got = append(got, m[2])
		if len(got) == 1 {
			require.Eventually(t, func() bool {
				text, err := os.ReadFile(checkpoint) // its second number is the step
				return err == nil && binary.NativeEndian.Uint32(text[4:]) == 200
			}, 60*time.Second, 10*time.Millisecond, "three ranks write a checkpoint")
			lose(t, dir, 2)
		}
	}, append(field, "-c", "0", "-w", "10:3", "-w", "200:4")...)
	require.Contains(t, wrong, "heat: goes on from step 200")
	require.Equal(t, []string{"3", "4"}, got)
	require.Equal(t, want, sum)
	require.NoFileExists(t, checkpoint)
}

// lose kills all that runs on a place.
func lose(t *testing.T, dir string, place int) {
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	lost := 0
	for _, path := range all {
		line, _ := os.ReadFile(path)
		if m, _ := regexp.Match(fmt.Sprint("-j\x00heat-\\d+-", place, "-"), line); m && strings.Contains(string(line), dir) {
			var pid int
			_, err := fmt.Sscanf(path, "/proc/%d/", &pid)
			require.NoError(t, err)
			lost++
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	require.Equal(t, 2, lost, "mpirun and its rank")
}
