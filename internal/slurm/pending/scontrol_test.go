// SPDX-License-Identifier: BSD-3-Clause

package pending

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAddFields(t *testing.T) {
	f := map[string]string{}
	for _, line := range []string{
		"JobId=7 JobName=a b c Priority=0", "   Reason=not in use UserId=u(1)", " JobId=8 more", "Priority=1 WCKey=w Reason=no",
		"Comment=x=1 y=2", "Comment=second", "stray", "",
	} {
		AddFields(f, line)
	}
	require.Equal(t, map[string]string{"JobId": "7", "JobName": "a b c Priority=0", "Reason": "not in use", "UserId": "u(1)",
		"Priority": "1", "WCKey": "w Reason=no", "Comment": "x=1 y=2"}, f)
}
