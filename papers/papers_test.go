package papers

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTableThreeIsComplete(t *testing.T) {
	require.Len(t, Tsubame(), 18)
	for _, w := range []string{"1.NC", "1.HC", "1.FC", "2.NC", "2.HC", "2.FC"} {
		for _, m := range []string{SlurmBackfill, Aucsched2, Aucsched2Ranges} {
			r, ok := TsubameResult(w, m)
			require.True(t, ok, "%s %s", w, m)
			// The table's own definition: utilisation is theoretical over observed
			// runtime. Means of ratios differ a little from ratios of means.
			require.InDelta(t, r.CPUUtilization, 100*r.TheoreticalRuntime/r.Runtime, 2.5, "%s %s", w, m)
		}
	}
	r, _ := TsubameResult("1.NC", SlurmBackfill)
	require.Equal(t, TsubameRow{"1.NC", SlurmBackfill, 350, 3.12, 64, 65, 4.87, 1.30, 1.36, 1.47, 1.01}, r)
	_, ok := TsubameResult("3.NC", Aucsched2)
	require.False(t, ok)
}
