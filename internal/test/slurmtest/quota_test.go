// SPDX-License-Identifier: BSD-3-Clause

//go:build !windows

package slurmtest

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// quotaMachine has more of everything than the tests' users may have.
func quotaMachine(a Accounting) Config {
	a.TRES = "gres/gpu"
	return Config{
		Groups:               []Group{{Nodes: 4, Sockets: 2, Cores: 8, Threads: 2, MemoryMB: 64000, GPUs: 4}},
		SelectTypeParameters: "CR_Core_Memory",
		Licenses:             "matlab:2",
		ExtraLines:           []string{"DefMemPerCPU=100"},
		MinJobAge:            time.Hour,
		LogLevel:             "verbose",
		Accounting:           &a,
	}
}

// A quotaRow is some jobs that are alike, of which a limit lets the first run, and what
// the others are told.
type quotaRow struct {
	qos, account, user string // limits
	args               string // of the jobs, or of an array of them
	run                int
	reason             string
}

var quotaRows = []quotaRow{
	{account: "GrpTRES=cpu=4", args: "-n2", run: 2, reason: "AssocGrpCpuLimit"},
	{account: "GrpTRES=cpu=4", args: "-n2 --array=1-4", run: 2, reason: "AssocGrpCpuLimit"},
	// whole cores count
	{account: "GrpTRES=cpu=5", args: "-n1", run: 2, reason: "AssocGrpCpuLimit"},
	{account: "GrpTRES=mem=2G", args: "-N1 -n1 --mem=1G", run: 2, reason: "AssocGrpMemLimit"},
	{account: "GrpTRES=node=1", args: "-N1 --exclusive", run: 1, reason: "AssocGrpNodeLimit"},
	{account: "GrpTRES=gres/gpu=2", args: "-N1 -n1 --gres=gpu:1", run: 2, reason: "AssocGrpGRES"},
	{account: "GrpJobs=1", args: "-n1", run: 1, reason: "AssocGrpJobsLimit"},
	{user: "MaxJobs=1", args: "-n1", run: 1, reason: "AssocMaxJobsLimit"},
	{account: "GrpTRESRunMins=cpu=10", args: "-n2 --time=5", run: 1, reason: "AssocGrpCPURunMinutesLimit"},
	{account: "GrpTRESMins=cpu=1", args: "-n2 --time=5", run: 0, reason: "AssocGrpCPUMinutesLimit"},
	{user: "MaxTRES=cpu=2", args: "-n4", run: 0, reason: "AssocMaxCpuPerJobLimit"},
	{qos: "GrpTRES=cpu=4", args: "-n2", run: 2, reason: "QOSGrpCpuLimit"},
	{qos: "MaxTRESPU=cpu=4", args: "-n2", run: 2, reason: "QOSMaxCpuPerUserLimit"},
	{qos: "MaxTRESPA=cpu=4", args: "-n2", run: 2, reason: "MaxCpuPerAccount"},
	{qos: "MaxTRES=cpu=2", args: "-n4", run: 0, reason: "QOSMaxCpuPerJobLimit"},
	{qos: "MaxJobsPU=1", args: "-n1", run: 1, reason: "QOSMaxJobsPerUserLimit"},
	{qos: "MaxJobsPA=1", args: "-n1 --array=1-4", run: 1, reason: "MaxJobsPerAccount"},
	{args: "-n1 -L matlab:1", run: 2, reason: "Licenses"},
	{args: "-n1 --array=1-4%1", run: 1, reason: "JobArrayTaskLimit"},
}

// quotaAccounting has an account and a QOS for each row that wants one.
func quotaAccounting(rows []quotaRow) (a Accounting) {
	for i, r := range rows {
		a.Accounts = append(a.Accounts, Account{fmt.Sprintf("a%d", i), r.account, []User{{Bob, r.user}}})
		if r.qos != "" {
			a.QOS = append(a.QOS, QOS{fmt.Sprintf("q%d", i), r.qos})
		}
	}
	return a
}

// quotaCluster starts a cluster with the accounts. slurmdbd hears of GPUs from a first slurmctld:
// limits on them are set when that is there.
func quotaCluster(t *testing.T, m mode, a Accounting) *Cluster {
	t.Helper()
	var late [][]string
	put := func(kind, name, limits string) string {
		if !strings.Contains(limits, "gres/") {
			return limits
		}
		late = append(late, slices.Concat([]string{"modify", kind, name, "set"}, strings.Fields(limits)))
		return ""
	}
	early := Accounting{}
	for _, q := range a.QOS {
		early.QOS = append(early.QOS, QOS{q.Name, put("qos", q.Name, q.Limits)})
	}
	for _, account := range a.Accounts {
		account.Limits = put("account", account.Name, account.Limits)
		early.Accounts = append(early.Accounts, account)
	}
	c := cluster(t, m, quotaMachine(early))
	for _, args := range late {
		_, err := c.Sacctmgr(t.Context(), args...)
		require.NoError(t, err)
	}
	return c
}

// submitTo submits the row's jobs, each with the row's account as its name.
func (r quotaRow) submitTo(t *testing.T, c *Cluster, i int) {
	name := fmt.Sprintf("a%d", i)
	args := as(Bob, "-A", name, "-J", name, "--time=5")
	if r.qos != "" {
		args = append(args, fmt.Sprintf("--qos=q%d", i))
	}
	args = append(args, strings.Fields(r.args)...)
	n := 4
	if strings.Contains(r.args, "--array") {
		n = 1
	}
	for range n {
		submit(t, c, "sleep 120", args...)
	}
}

// quotaFaults says in which rows other jobs run than should, or something else is told.
func quotaFaults(rows []quotaRow, jobs []Job) map[string]string {
	faults := map[string]string{}
	for i, r := range rows {
		name := fmt.Sprintf("a%d", i)
		running, reasons := 0, map[string]bool{}
		for _, j := range jobs {
			switch {
			case j.Name != name:
			case j.State == "RUNNING":
				running++
			case j.State == "PENDING":
				reasons[j.Reason] = true
			}
		}
		told := strings.Join(slices.Sorted(maps.Keys(reasons)), ",")
		if running != r.run || told != r.reason {
			faults[fmt.Sprintf("%s%s%s %s", r.qos, r.account, r.user, r.args)] = fmt.Sprintf("%d run, %s", running, told)
		}
	}
	return faults
}

// requireNoMisses checks that the auction started what it decided.
func requireNoMisses(t *testing.T, c *Cluster) {
	t.Helper()
	if s, err := c.Status(); err == nil {
		require.Zero(t, s.StartsFailed)
		require.Positive(t, s.Started)
	}
	log, err := readBounded(c.path("log", "slurmctld.log"))
	require.NoError(t, err)
	require.NotContains(t, log, "could not be started as decided")
	require.NotContains(t, log, "left to Slurm: failed")
}

// Jobs over a limit wait and are told which, at every moment, as with stock Slurm.
func TestLimitsAreTold(t *testing.T) {
	beside(t)
	mostlyAuction(t, func(t *testing.T, m mode) {
		c := quotaCluster(t, m, quotaAccounting(quotaRows))
		if m.name != "stock" {
			// so that the backfill scheduler does not put right what the auction says
			require.NoError(t, c.SetParameters(t.Context(), quickAuction+",batch_sched_delay=0,bf_interval=60"))
		}
		for i, r := range quotaRows {
			r.submitTo(t, c, i)
		}
		look := func() map[string]string {
			jobs, err := c.Jobs(t.Context())
			require.NoError(t, err)
			return quotaFaults(quotaRows, jobs)
		}
		var faults map[string]string
		require.NoError(t, c.poll(t.Context(), patience, "the limits to be told", func() (bool, error) {
			faults = look()
			return len(faults) == 0, nil
		}), "%v", faults)
		for began := time.Now(); time.Since(began) < 5*time.Second; time.Sleep(200 * time.Millisecond) {
			require.Empty(t, look(), "after %v", time.Since(began))
		}
		requireNoMisses(t, c)
		log, err := readBounded(c.path("log", "slurmctld.log"))
		require.NoError(t, err)
		require.NotContains(t, log, "met a limit at its start")
	})
}

// counts is how much of each TRES, and of jobs, somebody has or may have.
type counts map[string]int

// A quota is what somebody may have: an account, a user in it, or all or one user of a QOS.
type quota struct {
	of   func(j Job) string // "" if the job does not count; else who has it
	most counts
}

// userOf is whose the job is.
func userOf(j Job) string {
	name, _, _ := strings.Cut(j.Fields["UserId"], "(")
	return name
}

// countsOf is what the job counts or will count, by its TRES; whole cores of two CPUs.
func countsOf(t *testing.T, j Job) counts {
	t.Helper()
	c := counts{"jobs": 1}
	text := cmp.Or(j.Fields["TRES"], j.Fields["AllocTRES"], j.Fields["ReqTRES"])
	if j.State == "PENDING" {
		text = cmp.Or(j.Fields["TRES"], j.Fields["ReqTRES"])
	}
	for part := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(part, "=")
		scale := 1
		if cut, ok := strings.CutSuffix(value, "M"); ok {
			value = cut
		} else if cut, ok := strings.CutSuffix(value, "G"); ok {
			value, scale = cut, 1024
		}
		n, err := strconv.ParseFloat(value, 64)
		require.NoError(t, err, "TRES of job %d: %q", j.ID, text)
		c[key] = int(n * float64(scale))
	}
	c["cpu"] += c["cpu"] % 2
	return c
}

// A quotaReferee looks at all jobs again and again, and knows nothing of Slurm but the limits.
type quotaReferee struct {
	t      *testing.T
	quotas []quota
	could  map[uint32]time.Time // since when a job could have started
	within time.Duration        // it has to start in that time
}

// used is what jobs in the states have, by quota and who has it.
func (r *quotaReferee) used(jobs []Job, states ...string) []map[string]counts {
	used := make([]map[string]counts, len(r.quotas))
	for i, q := range r.quotas {
		used[i] = map[string]counts{}
		for _, j := range jobs {
			who := q.of(j)
			if who == "" || !j.In(states...) {
				continue
			}
			if used[i][who] == nil {
				used[i][who] = counts{}
			}
			for key, n := range countsOf(r.t, j) {
				used[i][who][key] += n
			}
		}
	}
	return used
}

// look checks that nobody has more than he may, and that no job waits for long that could run.
func (r *quotaReferee) look(jobs []Job, now time.Time) {
	r.t.Helper()
	for i, q := range r.quotas {
		for who, has := range r.used(jobs, "RUNNING")[i] {
			for key, most := range q.most {
				require.LessOrEqual(r.t, has[key], most, "%s of %s", key, who)
			}
		}
	}
	used := r.used(jobs, "RUNNING", "COMPLETING")
	for _, j := range jobs {
		if j.State != "PENDING" || !r.fits(j, used) {
			delete(r.could, j.ID)
			continue
		}
		since, ok := r.could[j.ID]
		if !ok {
			r.could[j.ID], since = now, now
		}
		require.LessOrEqual(r.t, now.Sub(since), r.within, "job %d (%s, %s) could run: %v beside %v",
			j.ID, j.Reason, j.Fields["QOS"], countsOf(r.t, j), used)
	}
}

func (r *quotaReferee) fits(j Job, used []map[string]counts) bool {
	need := countsOf(r.t, j)
	for i, q := range r.quotas {
		who := q.of(j)
		if who == "" {
			continue
		}
		for key, most := range q.most {
			if need[key] > 0 && used[i][who][key]+need[key] > most {
				return false
			}
		}
	}
	return true
}

// randomQuotas are accounts and QOS with limits of several kinds, and the same for the referee.
func randomQuotas(rng *rand.Rand) (Accounting, []quota) {
	var a Accounting
	var quotas []quota
	one := func(options ...string) (string, counts) {
		// an option as sacctmgr takes it, and what it says
		most, texts := counts{}, []string(nil)
		for _, o := range options {
			if rng.IntN(3) == 0 {
				continue
			}
			name, key, _ := strings.Cut(o, " ")
			n := 2 + rng.IntN(7)
			most[key] = n
			if key == "jobs" {
				texts = append(texts, fmt.Sprintf("%s=%d", name, n))
				continue
			}
			unit := ""
			if key == "mem" {
				most[key], unit = n*1024, "G"
			}
			if key == "cpu" {
				n *= 4
				most[key] = n
			}
			texts = append(texts, fmt.Sprintf("%s=%s=%d%s", name, key, n, unit))
		}
		return strings.Join(texts, " "), most
	}
	within := func(field, name string, who func(Job) string) func(Job) string {
		return func(j Job) string {
			if j.Fields[field] != name {
				return ""
			}
			return who(j)
		}
	}
	all := func(what string) func(Job) string { return func(Job) string { return what } }
	for _, name := range []string{"a", "b"} {
		limits, most := one("GrpTRES cpu", "GrpJobs jobs")
		quotas = append(quotas, quota{within("Account", name, all(name)), most})
		account := Account{Name: name, Limits: limits}
		for _, u := range []string{Alice, Bob, Carol} {
			limits, most := one("MaxJobs jobs")
			quotas = append(quotas, quota{within("Account", name, func(j Job) string {
				if userOf(j) != u {
					return ""
				}
				return u + " in " + name
			}), most})
			account.Users = append(account.Users, User{u, limits})
		}
		a.Accounts = append(a.Accounts, account)
	}
	for _, name := range []string{"x", "y"} {
		grp, most := one("GrpTRES mem")
		quotas = append(quotas, quota{within("QOS", name, all(name)), most})
		each, most := one("MaxTRESPU gres/gpu")
		quotas = append(quotas, quota{within("QOS", name, func(j Job) string { return userOf(j) + " of " + name }), most})
		a.QOS = append(a.QOS, QOS{name, join(" ", grp, each)})
	}
	quotas = append(quotas, quota{func(j Job) string {
		if j.Fields["Licenses"] != "matlab:1" {
			return ""
		}
		return "all"
	}, counts{"jobs": 2}})
	return a, quotas
}

// randomQuotaJob is a job or an array that is within all limits by itself.
func randomQuotaJob(rng *rand.Rand, gpus ...string) []string {
	pick := func(s ...string) string { return s[rng.IntN(len(s))] }
	args := as(pick(Alice, Bob, Carol), "-A", pick("a", "b"), "--qos="+pick("normal", "x", "y"), "--time="+pick("1", "3", "10"),
		"-N1", "-n"+pick("1", "2", "3", "6"), "--mem="+pick("100", "500", "1024", "2048"))
	if rng.IntN(3) == 0 {
		args = append(args, "--gres=gpu:"+pick(gpus...))
	}
	if rng.IntN(6) == 0 {
		args = append(args, "-L", "matlab:1")
	}
	return append(args, "--array=1-"+pick("1", "2", "8"))
}

// Random jobs of several users under random limits, where nothing else is scarce: nobody ever has
// more than he may, every job starts soon after the limits let it, and the auction decides
// nothing that can't start.
func TestLimitsHold(t *testing.T) {
	slow(t)
	beside(t)
	mostlyAuction(t, func(t *testing.T, m mode) {
		seed := uint64(time.Now().UnixNano())
		t.Logf("seed %d", seed)
		rng := rand.New(rand.NewPCG(seed, 0))
		accounting, quotas := randomQuotas(rng)
		t.Logf("%+v", accounting)
		c := quotaCluster(t, m, accounting)
		referee := quotaReferee{t, quotas, map[uint32]time.Time{}, 8 * time.Second}
		gpus := []string{"1", "2"}
		if m.name != "stock" {
			gpus = append(gpus, "1-2")
		}
		for range 25 {
			submit(t, c, fmt.Sprintf("sleep %d", 1+rng.IntN(3)), randomQuotaJob(rng, gpus...)...)
		}
		require.NoError(t, c.poll(t.Context(), 3*time.Minute, "all jobs to end", func() (bool, error) {
			jobs, err := c.Jobs(t.Context())
			if err != nil {
				return false, err
			}
			referee.look(jobs, time.Now())
			return !slices.ContainsFunc(jobs, func(j Job) bool { return !j.Ended() }), nil
		}))
		requireNoMisses(t, c)
	})
}

// A job that has no place yet does not keep others of its account from starting that could run
// elsewhere or beside it, even if it would use up all that the account may have; those that
// ask for as much wait.
func TestBehindAWideJob(t *testing.T) {
	slow(t)
	beside(t)
	mostlyAuction(t, func(t *testing.T, m mode) {
		c := quotaCluster(t, m, Accounting{Accounts: []Account{
			{Name: "few", Limits: "GrpTRES=cpu=64", Users: []User{{Name: Alice}}},
			{Name: "all", Users: []User{{Name: Bob}}},
		}})
		others := []string{"-n8"}
		for range 3 {
			others = append(others, "-n32")
		}
		var ids []uint32
		for _, n := range others {
			ids = append(ids, submit(t, c, "sleep 300", as(Bob, "-N1", n, "--time=10")...))
		}
		running(t, c, patience, ids...)
		wide := []string{"-N2", "--ntasks-per-node=32", "--time=5"}
		first := submit(t, c, "true", as(Alice, wide...)...)
		second := submit(t, c, "true", as(Alice, wide...)...)
		var reasons []string
		require.NoError(t, c.poll(t.Context(), patience, "the wide jobs to wait for nodes", func() (bool, error) {
			reasons = nil
			for _, id := range []uint32{first, second} {
				j, err := c.ShowJob(t.Context(), id)
				if err != nil {
					return false, err
				}
				reasons = append(reasons, j.Reason)
			}
			return reasons[0] == "Resources" && reasons[1] == "Priority", nil
		}), "%v", reasons)
		small := submit(t, c, "sleep 300", as(Alice, "-N1", "-n4", "--time=6")...)
		running(t, c, patience, small)
		if m.name != "stock" {
			routes, err := c.Routes()
			require.NoError(t, err)
			require.Equal(t, 1, routes[small].Started, "by the auction")
		}
		log, err := readBounded(c.path("log", "slurmctld.log"))
		require.NoError(t, err)
		require.NotContains(t, log, fmt.Sprintf("JobId=%d left to Slurm", second))
	})
}

// Who may have one node, and has it, gets further jobs on that one, however well another would fit.
func TestJobsShareALimitedNode(t *testing.T) {
	slow(t)
	beside(t)
	c := quotaCluster(t, auction, Accounting{Accounts: []Account{
		{Name: "one", Limits: "GrpTRES=node=1", Users: []User{{Name: Alice}}},
		{Name: "all", Users: []User{{Name: Bob}}},
	}})
	ids := []uint32{
		submit(t, c, "sleep 300", as(Bob, "-N1", "-n28", "--nodelist=n0002", "--time=10")...),
		submit(t, c, "sleep 60", as(Alice, "-N1", "-n4", "--nodelist=n0003", "--time=2")...),
	}
	running(t, c, patience, ids...)
	ids = nil
	for range 5 {
		ids = append(ids, submit(t, c, "sleep 60", as(Alice, "-N1", "-n4", "--time=2")...))
	}
	for _, j := range running(t, c, patience, ids...) {
		require.Equal(t, "n0003", j.NodeList)
	}
	requireNoMisses(t, c)
}

// Who takes whole nodes has all of their GPUs, as limits count them.
func TestGPUsOfWholeNodes(t *testing.T) {
	slow(t)
	beside(t)
	few := Account{Name: "few", Limits: "GrpTRES=gres/gpu=8", Users: []User{{Name: Alice}}}
	c := quotaCluster(t, auction, Accounting{Accounts: []Account{few}})
	for range 4 {
		submit(t, c, "sleep 60", as(Alice, "-N1", "--exclusive", "--time=2")...)
	}
	require.NoError(t, c.poll(t.Context(), patience, "two to run and two to wait", func() (bool, error) {
		out, err := c.Squeue(t.Context(), "%T %r")
		return strings.Count(out, "RUNNING") == 2 && strings.Count(out, "PENDING AssocGrpGRES") == 2, err
	}))
	requireNoMisses(t, c)
	log, err := readBounded(c.path("log", "slurmctld.log"))
	require.NoError(t, err)
	require.NotContains(t, log, "met a limit at its start")
}

// No more jobs take part than can start together, and of a range of GPUs no more is bid
// for than there may be.
func TestLimitsOfTheWindow(t *testing.T) {
	beside(t)
	c := quotaCluster(t, auction, Accounting{Accounts: []Account{
		{Name: "few", Limits: "GrpTRES=cpu=8", Users: []User{{Name: Alice}}},
		{Name: "three", Limits: "GrpTRES=gres/gpu=3", Users: []User{{Name: Bob}}},
		{Name: "all", Users: []User{{Name: Bob}}},
	}})
	together(t, c, func() {
		submit(t, c, "sleep 60", as(Alice, "-n2", "--array=1-50", "--time=2")...)
		submit(t, c, "sleep 60", as(Bob, "-A", "all", "-n2", "-L", "matlab:1", "--array=1-50", "--time=2")...)
	})
	count := 0
	require.NoError(t, c.poll(t.Context(), patience, "six tasks to run", func() (bool, error) {
		out, err := c.Squeue(t.Context(), "%i", "-t", "R")
		count = len(strings.Fields(out))
		return count == 6, err
	}), "%d run", count)
	var s Status
	require.NoError(t, c.poll(t.Context(), patience, "the status of a cycle", func() (bool, error) {
		var err error
		s, err = c.Status()
		return err == nil && s.Window > 0, nil
	}))
	require.LessOrEqual(t, s.Window, int64(6))

	gpus := func(n string) []string { return as(Bob, "-A", "three", "-N1", "-n1", "--gres=gpu:"+n, "--time=2") }
	first := submit(t, c, "sleep 60", gpus("2")...)
	running(t, c, patience, first)
	second := submit(t, c, "sleep 60", gpus("1-2")...)
	require.Equal(t, 1, running(t, c, patience, second)[0].Nodes[0].GPUCount)
	routes, err := c.Routes()
	require.NoError(t, err)
	require.Equal(t, 1, routes[second].Started)

	requireNoMisses(t, c)
	log, err := readBounded(c.path("log", "slurmctld.log"))
	require.NoError(t, err)
	require.NotContains(t, log, "met a limit at its start")
}

// A job that would meet a limit on the nodes that it could win, for it may have fewer, does not win
// them; nor, where the policy does not know what they count, for ever.
func TestLimitOfWhatWasWon(t *testing.T) {
	beside(t)
	c := quotaCluster(t, auction, Accounting{Accounts: []Account{
		{Name: "few", Limits: "GrpTRES=mem=8G", Users: []User{{Name: Alice}}},
		{Name: "all", Users: []User{{Name: Bob}}},
	}})
	var ids []uint32
	for i := range 4 {
		ids = append(ids, submit(t, c, "sleep 300", as(Bob, "-N1", "-n16", "--mem=1G", "--nodelist="+NodeName(i+1), "--time=10")...))
	}
	running(t, c, patience, ids...)
	bob := func() uint32 {
		return submit(t, c, "sleep 60", as(Bob, "-N1", "-n16", "--mem=1G", "--time=2")...)
	}
	var wide, small uint32
	together(t, c, func() {
		wide = submit(t, c, "sleep 60", as(Alice, "-n64", "--mem=4G", "--nice=-20000", "--time=2")...)
		small = bob()
	})
	running(t, c, patience, small)
	missed := fmt.Sprintf("JobId=%d could not be started as decided", wide)
	require.Empty(t, logLines(t, c, missed))
	j, err := c.ShowJob(t.Context(), wide)
	require.NoError(t, err)
	require.Equal(t, "PENDING", j.State)
}
