// SPDX-License-Identifier: BSD-3-Clause

package link

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A process that has ended is none of the kernel's faults, in whatever words it says so.
func TestPeerError(t *testing.T) {
	for said, want := range map[error]error{
		unix.ESRCH:   unix.ESRCH,
		unix.EINVAL:  unix.ESRCH,
		unix.ENODATA: unix.ESRCH,
		fmt.Errorf("getsockopt: %w", unix.EINVAL): unix.ESRCH,
		unix.EMFILE: unix.EMFILE,
	} {
		require.ErrorIs(t, peerError(said), want, "%v", said)
	}
}
