// SPDX-License-Identifier: BSD-3-Clause

package nodes_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary pose as a program that starts a cluster and is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("EMULATION_VICTIM"); dir != "" {
		c, err := start(dir, options{rate: 60}, group{"n[1-4]", 4, 0, 1000})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("up", len(c.processes()))
		select {}
	}
	os.Exit(m.Run())
}

// TestNothingIsLeft: when the process that started a cluster is killed, nothing
// of the cluster stays.
func TestNothingIsLeft(t *testing.T) {
	bed(t, options{rate: 60}, group{"n1", 4, 0, 1000}) // or there is nothing to be tested here
	dir := t.TempDir()
	victim := exec.Command(os.Args[0])
	victim.Env = append(os.Environ(), "EMULATION_VICTIM="+dir)
	victim.Stderr = os.Stderr
	out, err := victim.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, victim.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(line, "up "), line)
	require.GreaterOrEqual(t, len(marked(dir)), 2)
	require.NoError(t, victim.Process.Kill())
	victim.Wait()
	poll(t, "the processes of the cluster to end", func() bool { return len(marked(dir)) == 0 })
}
