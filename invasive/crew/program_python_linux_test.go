// SPDX-License-Identifier: BSD-3-Clause

package crew

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

const inPython = `
import aucsched_malleable

client = aucsched_malleable.connect()
for change in client:
    print(*change.places, "on", *aucsched_malleable.nodes().values(), flush=True)
    client.done(change)
`

// A program in Python hears of places that come, are wanted back and are lost.
func TestProgramInPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3")
	}
	c, p, _ := programCrew(t)
	_, _ = c.member(0)
	c.until(t, Joined, 0)
	program := exec.Command(python, "-c", inPython)
	program.Env = append(append(os.Environ(), p.Environ()...), "PYTHONPATH=../malleable/python", "PYTHONDONTWRITEBYTECODE=1")
	program.Stderr = os.Stderr
	out, err := program.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, program.Start())
	defer func() { _ = program.Process.Kill(); _ = program.Wait() }()
	lines := bufio.NewScanner(out)
	says := func(line string) {
		t.Helper()
		require.True(t, lines.Scan(), "%v", lines.Err())
		require.Equal(t, line, lines.Text())
	}
	says("0 on n0")
	wanted, left := c.member(4)
	says("0 4 on n0 n4")
	wanted <- syscall.SIGTERM
	says("0 on n0")
	require.NoError(t, <-left, "it has said that it is done")

	ctx, lose := context.WithCancel(t.Context())
	m := Member{Invitation: c.Invitation(), Place: 7, Node: "n7", Job: "2"}
	go func() { _ = m.Serve(ctx, nil) }()
	says("0 7 on n0 n7")
	lose()
	says("0 on n0")
}
