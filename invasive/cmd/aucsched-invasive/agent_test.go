// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/aucsched/aucsched/internal/cli"
)

func TestAgentFlags(t *testing.T) {
	root := ""
	if os.Geteuid() == 0 {
		root = " --user root"
	}
	for args, want := range map[string]string{
		"":                                   "--invitation: must name",
		"--invitation x --node a/b" + root:   `--node: "a/b": must be a name`,
		"--invitation x --user no-such-user": "--user: user: unknown user",
		"--invitation x --sockets 2" + root:  "need --cores",
		"--invitation x --with 1" + root:     "--with: 1: must be a process",
		"--invitation x extra" + root:        "agent takes no arguments",
	} {
		code, _, errs := aucsched(t, "", append([]string{"agent", "--state", t.TempDir()}, strings.Fields(args)...)...)
		require.Equal(t, cli.ExitUsage, code, "%s: %s", args, errs)
		require.Contains(t, errs, want, args)
	}
}

// An invitation is taken only from a file that nobody else can read or change.
func TestInvitationIsOnesOwn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "invitation")
	f := agentFlags{invitation: path}
	_, err := f.readInvitation()
	require.ErrorIs(t, err, os.ErrNotExist)
	good := "h:1/" + strings.Repeat("0", 64) + "/" + strings.Repeat("1", 64)
	require.NoError(t, os.WriteFile(path, []byte(good+"\n"), 0o600))
	for mode, want := range map[os.FileMode]string{0o600: "", 0o400: "", 0o640: "lets others", 0o604: "lets others", 0o620: "lets others",
		0o602: "lets others", 0o666: "lets others"} {
		require.NoError(t, os.Chmod(path, mode))
		i, err := f.readInvitation()
		if want == "" {
			require.NoError(t, err)
			require.Equal(t, good, i.String())
			continue
		}
		require.ErrorContains(t, err, path)
		require.ErrorContains(t, err, want, "%#o", mode)
	}
	require.NoError(t, os.Chmod(path, 0o600))
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(path, 4711, 0))
		_, err = f.readInvitation()
		require.ErrorContains(t, err, "belongs to user 4711")
		require.NoError(t, os.Chown(path, 0, 0))
	}
	require.NoError(t, os.WriteFile(path, []byte("nonsense"), 0o600))
	_, err = f.readInvitation()
	require.ErrorContains(t, err, path)
	require.NoError(t, os.Remove(path))
	require.NoError(t, unix.Mkfifo(path, 0o600))
	_, err = f.readInvitation()
	require.ErrorContains(t, err, "regular file")
}

// A shell script runs a command on each of its places, over two nodes: what invasive/docs/protocol.md shows.
func TestAgents(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	start := func(args ...string) {
		cmd := exec.Command(self, args...)
		cmd.Env = append(os.Environ(), "AUCSCHED_TEST_COMMAND=1")
		cmd.Stderr = os.Stderr
		require.NoError(t, cmd.Start())
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
	}
	socket := "unix:" + filepath.Join(dir, "run", "socket")
	start("ihypervisor", "--socket", socket, "--state", filepath.Join(dir, "state"), "--agents", "2", "--agents-listen", "127.0.0.1:0",
		"--report", "100ms", "--offer-every", "50ms")
	for _, node := range []string{"left", "right"} {
		args := []string{"agent", "--node", node, "--invitation", filepath.Join(dir, "state", "invitation"),
			"--state", filepath.Join(dir, node), "--output", filepath.Join(dir, "output"), "--cores", "2", "--oversubscribe"}
		if os.Geteuid() == 0 {
			args = append(args, "--user", "root")
		}
		start(args...)
	}
	start("ischeduler", "--dir", filepath.Join(dir, "queue"), "--connect", socket, "--report", "100ms")
	script := fmt.Sprintf(`while read -r place node; do
	AUCSCHED_TEST_COMMAND=1 '%s' crew on "$place" -- sh -c "echo $place $node; exit $place" || echo "status $?" &
done <"$AUCSCHED_CREW_NODES"
wait`, self)
	require.Eventually(t, func() bool {
		cmd := exec.Command(self, "ischeduler", "submit", "--dir", filepath.Join(dir, "queue"), "--min", "4", "--min-nodes", "2",
			"--max-nodes", "2", "--", "sh", "-c", script)
		cmd.Env = append(os.Environ(), "AUCSCHED_TEST_COMMAND=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Logf("%s", out) // it does not listen yet
		}
		return err == nil
	}, 30*time.Second, 200*time.Millisecond)
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(dir, "output", name))
		return string(text)
	}
	var lines []string // one that ends with 0 says so in no status
	require.Eventually(t, func() bool {
		lines = strings.Split(strings.TrimSpace(read("1.left.out")+read("1.right.out")), "\n")
		return strings.Count(read("1.out"), "status") == 3 && len(lines) == 4
	}, 30*time.Second, 20*time.Millisecond)
	slices.Sort(lines)
	for place, line := range lines {
		require.Regexp(t, fmt.Sprintf("^%d (left|right)$", place), line)
		if place > 0 {
			require.Contains(t, read("1.out"), fmt.Sprintf("status %d\n", place))
		}
	}
	require.Equal(t, strings.Count(read("1.left.out"), "left"), 2)
	require.Equal(t, strings.Count(read("1.right.out"), "right"), 2)
}
