// SPDX-License-Identifier: BSD-3-Clause

package rare

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Lines come at most once in a time, and none is forgotten.
func TestLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log, r := &bytes.Buffer{}, &Line{}
		now, last, left := time.Unix(1000, 0), time.Time{}, 0
		for range rapid.IntRange(1, 50).Draw(t, "calls") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(Every)/2).Draw(t, "later")))
			before := strings.Count(log.String(), "\n")
			r.Warn(slog.New(slog.NewTextHandler(log, nil)), now, "a stranger")
			if now.Sub(last) < Every {
				left++
				require.Equal(t, before, strings.Count(log.String(), "\n"))
				continue
			}
			require.Equal(t, before+1, strings.Count(log.String(), "\n"))
			all := strings.Split(strings.TrimSpace(log.String()), "\n")
			require.Equal(t, left > 0, strings.HasSuffix(all[len(all)-1], fmt.Sprintf(" left_out=%d", left)))
			last, left = now, 0
		}
	})
}
