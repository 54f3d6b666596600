// SPDX-License-Identifier: BSD-3-Clause

package locality

import (
	"context"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/aucsched/aucsched/internal/test/race"
)

// logDir holds the authors' log of 2022-09-10, their cluster file, and what their programme prints.
const logDir = "../../../shared/locality"

// AuthorsLog reads the log, or skips the test. Its reader imports this package.
var AuthorsLog func(t testing.TB, dir string) ([]Node, []Job)

func authorsLog(t testing.TB) ([]Node, []Job) {
	t.Helper()
	return AuthorsLog(t, logDir)
}

// TestReferenceLog holds the reference mode against what the authors' programme prints for a
// day of their log: counts exactly, sums and means, which the programme keeps in single
// precision, within 1e-4.
func TestReferenceLog(t *testing.T) {
	race.Slow(t)
	nodes, jobs := authorsLog(t)
	rows := readFile(t, filepath.Join(logDir, "reference_2022-09-10.csv"), readRows)
	require.Len(t, rows, len(Policies())-2, "the programme knows no lead")
	for _, row := range rows {
		name := strings.ReplaceAll(strings.ToLower(row["Scheduler"]), "_", "-")
		t.Run(name, func(t *testing.T) {
			if !quickPolicies[name] && os.Getenv(longTests) == "" {
				t.Skipf("set %s=1 to run all ten schedulers over the authors' log", longTests)
			}
			got, err := Simulate(context.Background(), nodes, jobs, Options{Policy: name, Mode: Reference})
			require.NoError(t, err)
			compareRow(t, row, got)
		})
	}
}

// longTests is the environment variable that has all schedulers run over the authors' log.
const longTests = "AUCSCHED_LOCALITY_LONG"

// quickPolicies run always: one without files or holes, and one with both.
var quickPolicies = map[string]bool{"fcfs": true, "lem-bf": true}

func compareRow(t *testing.T, row map[string]string, got *Result) {
	for name, value := range map[string]int{
		"Number of jobs": got.Jobs, "Nb jobs large queue time": got.LongQueue, "Number of data reuse": got.Reused,
	} {
		require.Equal(t, row[name], strconv.Itoa(value), name)
	}
	for name, value := range map[string]float64{
		"Maximum queue time": float64(got.QueueMax), "Mean queue time": got.QueueMean, "Total queue time": float64(got.QueueTotal),
		"Maximum flow": float64(got.FlowMax), "Mean flow": got.FlowMean, "Total flow": float64(got.FlowTotal),
		"Transfer time": float64(got.Transfer), "Makespan": float64(got.Makespan), "Core time used": float64(got.CoreTime),
		"Waiting for a load time":                         float64(got.LoadWait),
		"Total waiting for a load time and transfer time": float64(got.LoadWait + got.Transfer),
		"Mean Stretch":                                    got.StretchMean, "Mean Stretch With a Minimum": got.BoundedStretchMean,
		"Max Stretch": got.StretchMax, "Max Stretch With a Minimum": got.BoundedStretchMax,
	} {
		want, err := strconv.ParseFloat(row[name], 64)
		require.NoError(t, err, name)
		require.InEpsilon(t, want, value, 1e-4, name)
	}
}

// readRows reads a table with a line of names.
func readRows(r io.Reader, _ string) ([]map[string]string, error) {
	all, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, err
	}
	var rows []map[string]string
	for _, record := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[strings.TrimSpace(name)] = record[i]
		}
		rows = append(rows, row)
	}
	return rows, nil
}
