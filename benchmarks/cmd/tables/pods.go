// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/aucsched/aucsched/benchmarks/pods"
)

// Names of the files of the paper's artifact.
const (
	podNodes     = "openb_node_list_gpu_node.csv"
	podPrefix    = "openb_pod_list_"
	podSuffix    = ".csv.gz"
	podPublished = "published_allocation.csv"
)

// podOptions are those of the subcommand.
type podOptions struct {
	traces, csv, match string
	seeds              seedRange
	jobs               int
}

func (o *podOptions) register(flags *flag.FlagSet) {
	o.seeds = seedRange{42, 51}
	flags.StringVar(&o.traces, "traces", "",
		"directory with the lists of nodes and pods, and what the paper's artifact publishes")
	flags.StringVar(&o.csv, "csv", "", "write every run's figures to this file")
	flags.StringVar(&o.match, "match", "", "only the lists whose names have this text")
	flags.Var(&o.seeds, "seeds", "seeds of the arrivals, FIRST-LAST")
	flags.IntVar(&o.jobs, "j", 1, "runs at a time; more than one blurs the times")
}

// podCase is a list of pods, and how much of the cluster they ask for.
type podCase struct {
	Name    string
	Made    bool // of the paper's lists, for this page
	Inflate float64
	pods    []pods.Pod
	cluster *pods.Cluster
}

// podRow are one policy's runs of a case.
type podRow struct {
	List, Policy string
	Made         bool
	Inflate      float64
	Batch        int
	At100, AtEnd []float64 // GPU allocation in %, by seed
	Failed, Time []float64 // pods without a place; microseconds a pod
	// Published are the means of the paper's artifact at 100 and 130%; nil where there are none.
	Published *[2]float64
}

// podAllocation measures benchmarks/results/pods.md.
func podAllocation(ctx context.Context, o podOptions, errs io.Writer) (string, error) {
	if o.traces == "" {
		return "", fmt.Errorf("pods: -traces is needed: %w", errUsage)
	}
	cases, err := podCases(&o)
	if err != nil {
		return "", err
	}
	published, err := readPublished(filepath.Join(o.traces, podPublished))
	if err != nil {
		return "", err
	}
	rows := podRows(cases, published)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(1, o.jobs))
	of := map[string]*podCase{}
	for i := range cases {
		of[cases[i].Name] = &cases[i]
	}
	for i := range rows {
		g.Go(func() error {
			row := &rows[i]
			fmt.Fprintf(errs, "%s, %s, batches of %d\n", row.List, row.Policy, row.Batch)
			return row.measure(ctx, of[row.List], o.seeds)
		})
	}
	if err := g.Wait(); err != nil {
		return "", err
	}
	if o.csv != "" {
		if err := writePodCSV(o.csv, rows, o.seeds); err != nil {
			return "", err
		}
	}
	return podPage(rows, o.seeds, machine())
}

// measure runs and verifies the row, seed by seed.
func (r *podRow) measure(ctx context.Context, of *podCase, seeds seedRange) error {
	for seed := seeds.First; seed <= seeds.Last; seed++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		o := pods.Options{Policy: r.Policy, Inflate: r.Inflate, Batch: r.Batch, Seed: uint64(seed)}
		run, err := pods.Run(of.cluster, of.pods, o)
		if err == nil {
			err = pods.Verify(of.cluster, of.pods, o.Batch, run)
		}
		if err != nil {
			return fmt.Errorf("%s, %s, seed %d: %w", r.List, r.Policy, seed, err)
		}
		r.At100 = append(r.At100, run.At(100))
		r.AtEnd = append(r.AtEnd, run.At(100*r.Inflate))
		r.Failed = append(r.Failed, float64(run.Failed))
		r.Time = append(r.Time, float64(run.Decided.Nanoseconds())/1e3/float64(len(run.Order)))
	}
	return nil
}

// podRows are what is to be measured: all policies on the paper's lists, three on the others.
func podRows(cases []podCase, published map[string]map[string][2]float64) []podRow {
	var rows []podRow
	for i := range cases {
		c := &cases[i]
		add := func(policy string, batch int) {
			r := podRow{List: c.Name, Made: c.Made, Inflate: c.Inflate}
			r.Policy, r.Batch = policy, batch
			if m, ok := published[c.Name][pods.PublishedName(policy)]; ok {
				r.Published = &m
			}
			rows = append(rows, r)
		}
		for _, policy := range pods.Policies() {
			if !c.Made || policy == podBest {
				add(policy, 1)
			}
		}
		add(pods.Auction, podBatch)
	}
	return rows
}

// The paper's policy that the auction is compared with, and how many pods this decides together.
const (
	podBest  = "fgd"
	podBatch = 10
)

// podCases reads the paper's lists, and makes further ones of them.
func podCases(o *podOptions) ([]podCase, error) {
	f, err := os.Open(filepath.Join(o.traces, podNodes))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c, err := pods.ReadNodes(f, podNodes)
	if err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(o.traces, podPrefix+"*"+podSuffix))
	if err != nil {
		return nil, err
	}
	lists := map[string][]pods.Pod{}
	var cases []podCase
	for _, path := range paths {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), podPrefix), podSuffix)
		if lists[name], err = readPodList(path, c); err != nil {
			return nil, err
		}
		cases = append(cases, podCase{Name: name, Inflate: 1.3, pods: lists[name], cluster: c})
	}
	var kept []podCase
	for _, x := range append(cases, madeCases(c, lists)...) {
		if strings.Contains(x.Name, o.match) && len(x.pods) > 0 {
			kept = append(kept, x)
		}
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("%s: no list %s*%s with %q in its name",
			o.traces, podPrefix, podSuffix, o.match)
	}
	return kept, nil
}

func readPodList(path string, c *pods.Cluster) ([]pods.Pod, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return pods.ReadPods(f, filepath.Base(path), c)
}

// readPublished are the artifact's means at 100 and 130%, by list and policy.
func readPublished(path string) (map[string]map[string][2]float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	column := map[string]int{}
	for i, name := range all[0] {
		column[name] = i
	}
	for _, name := range []string{"workload", "sc_policy", "100", "130"} {
		if _, ok := column[name]; !ok {
			return nil, fmt.Errorf("%s: no field %s in the first line", path, name)
		}
	}
	sums, counts := map[string]map[string][2]float64{}, map[string]float64{}
	for i, row := range all[1:] {
		list := strings.TrimPrefix(row[column["workload"]], podPrefix)
		policy := row[column["sc_policy"]]
		if sums[list] == nil {
			sums[list] = map[string][2]float64{}
		}
		m := sums[list][policy]
		for k, at := range []string{"100", "130"} {
			x, err := strconv.ParseFloat(row[column[at]], 64)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: field %s: %w", path, i+2, at, err)
			}
			m[k] += x
		}
		sums[list][policy] = m
		counts[list+"/"+policy]++
	}
	for list, of := range sums {
		for policy, m := range of {
			n := counts[list+"/"+policy]
			of[policy] = [2]float64{m[0] / n, m[1] / n}
		}
	}
	return sums, nil
}

// writePodCSV writes a line for each run.
func writePodCSV(path string, rows []podRow, seeds seedRange) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	lines := [][]string{{"list", "inflate", "policy", "batch", "seed",
		"gpu_at_100", "gpu_at_end", "failed", "us_per_pod"}}
	for i := range rows {
		r := &rows[i]
		for k := range r.AtEnd {
			lines = append(lines, []string{r.List, fmt.Sprint(r.Inflate), r.Policy,
				fmt.Sprint(r.Batch), fmt.Sprint(seeds.First + uint64(k)),
				fmt.Sprintf("%.3f", r.At100[k]), fmt.Sprintf("%.3f", r.AtEnd[k]),
				fmt.Sprint(r.Failed[k]), fmt.Sprintf("%.1f", r.Time[k])})
		}
	}
	if err := w.WriteAll(lines); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func preparePods(flags *flag.FlagSet) maker {
	var o podOptions
	o.register(flags)
	return func(ctx context.Context, errs io.Writer) (string, error) { return podAllocation(ctx, o, errs) }
}
