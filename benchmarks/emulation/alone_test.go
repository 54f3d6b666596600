// SPDX-License-Identifier: BSD-3-Clause

package emulation

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOneProcessEmulatesAtATime(t *testing.T) {
	name := fmt.Sprintf("@aucsched-test-%d", os.Getpid())
	one, other := &Alone{name: name}, &Alone{name: name} // as two processes would have them
	require.NoError(t, one.Enter())
	require.NoError(t, one.Enter(), "runs of one process")
	var busy *BusyError
	require.ErrorAs(t, other.Enter(), &busy)
	assert.Equal(t, os.Getpid(), busy.Pid)
	assert.ErrorContains(t, busy, fmt.Sprintf("process %d emulates", os.Getpid()))
	one.Leave()
	one.Leave()
	require.NoError(t, other.Enter())
	require.ErrorAs(t, one.Enter(), &busy)
	other.Leave()
}

// The claim of a process that was killed is gone with it.
func TestNobodyHasToTakeBackAClaim(t *testing.T) {
	if name := os.Getenv("AUCSCHED_TEST_CLAIM"); name != "" {
		if err := (&Alone{name: name}).Enter(); err != nil {
			fmt.Println(err)
		} else {
			fmt.Println("claimed")
		}
		_, _ = io.Copy(io.Discard, os.Stdin) // until whoever started it ends
		return
	}
	name := fmt.Sprintf("@aucsched-test-claim-%d", os.Getpid())
	c := exec.Command(os.Args[0], "-test.run=^TestNobodyHasToTakeBackAClaim$")
	c.Env = append(os.Environ(), "AUCSCHED_TEST_CLAIM="+name)
	in, err := c.StdinPipe()
	require.NoError(t, err)
	defer in.Close()
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	line := make([]byte, len("claimed"))
	_, err = out.Read(line)
	require.NoError(t, err)
	require.Equal(t, "claimed", string(line))
	mine := &Alone{name: name}
	var busy *BusyError
	require.ErrorAs(t, mine.Enter(), &busy)
	assert.Equal(t, c.Process.Pid, busy.Pid)
	require.NoError(t, c.Process.Kill())
	require.Error(t, c.Wait(), "it was killed")
	require.NoError(t, mine.Enter())
	mine.Leave()
}
