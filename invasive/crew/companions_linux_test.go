// SPDX-License-Identifier: BSD-3-Clause

package crew

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// asked are the commands that companions run, with the second at which they do.
type asked struct {
	began time.Time
	said  []string
	fails int // so many times sbatch fails
	mu    sync.Mutex
	last  int // array
	knows []string
	down  error // what squeue says
}

func (a *asked) known(context.Context, string) (map[string]bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.said = append(a.said, fmt.Sprint(time.Since(a.began).Seconds(), " squeue"))
	known := map[string]bool{}
	for _, array := range a.knows {
		known[array] = true
	}
	return known, a.down
}

// set says what squeue is to say.
func (a *asked) set(down error, knows ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.down, a.knows = down, knows
}

func (a *asked) submit(_ context.Context, _ string, argv ...string) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	text := strings.Join(argv, " ")
	user := fmt.Sprint(" --user=", os.Getuid())
	for _, same := range []string{" --parsable --nodes=1 --job-name=crew-7", " --export=ALL", " --quiet", user, " --name=crew-7"} {
		text = strings.Replace(text, same, "", 1)
	}
	a.said = append(a.said, fmt.Sprint(time.Since(a.began).Seconds(), " ", text))
	if argv[0] == "sbatch" && a.fails > 0 {
		a.fails--
		return "", errors.New("no slurmctld")
	}
	if argv[0] == "sbatch" {
		a.last++
	}
	return fmt.Sprintf("%d;cluster\n", a.last), nil
}

// Places are asked for together, and again after longer and longer pauses; what sbatch has refused
// is not lost. Afterwards nothing waits.
func TestCompanionsAreAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &asked{began: time.Now(), fails: 2, knows: []string{"1", "2", "3", "4", "5"}}
		c := newCompanions(&Options{Job: "7", Args: []string{"-p", "low"}, Log: quiet}, a.submit, a.known)
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan bool)
		c.ask(3, 1, 2)
		go func() {
			c.run(ctx)
			close(over)
		}()
		time.Sleep(99 * time.Second)
		c.askAgain(ctx, 2, time.Minute) // at 109
		time.Sleep(100 * time.Second)
		c.askAgain(ctx, 2, time.Minute) // at 219
		time.Sleep(100 * time.Second)
		c.askAgain(ctx, 2, time.Hour) // it has lasted: at 309
		time.Sleep(time.Second)
		c.askAgain(ctx, 5, 0)
		time.Sleep(49 * time.Second)
		c.askAgain(ctx, 2, 0)
		cancel()
		<-over
		require.Equal(t, []string{
			"0 scancel",
			"0 sbatch --array=1-3 -p low", "10 sbatch --array=1-3 -p low", "30 sbatch --array=1-3 -p low",
			"60 squeue", "109 sbatch --array=2 -p low", "139 squeue", "219 sbatch --array=2 -p low", "249 squeue",
			"309 sbatch --array=2 -p low", "310 sbatch --array=5 -p low", "339 squeue", "340 squeue",
			"349 scancel --state=PENDING",
		}, a.said)
		require.Empty(t, c.take())
	})
}

// Of an array that Slurm has forgotten the places that are not there are asked for again: not of
// one that it knows, nor any while it doesn't answer, or when no more are wanted.
func TestForgottenCompanions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &asked{began: time.Now(), down: errors.New("no slurmctld")}
		c := newCompanions(&Options{Job: "7", Log: quiet}, a.submit, a.known)
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan bool)
		c.ask(1, 2)
		go func() {
			c.run(ctx)
			close(over)
		}()
		time.Sleep(time.Second)
		c.ask(3, 4)
		time.Sleep(time.Second)
		c.ask(5)
		time.Sleep(31 * time.Second)
		a.set(nil, "1", "0") // 0 is of before
		time.Sleep(10 * time.Second)
		c.here(3)
		c.here(5)
		time.Sleep(21 * time.Second)
		a.set(nil, "4")
		time.Sleep(time.Minute)
		c.ask(4)
		time.Sleep(time.Second)
		c.withdraw()
		time.Sleep(time.Hour)
		cancel()
		<-over
		require.Equal(t, []string{"0 scancel", "0 sbatch --array=1-2", "1 sbatch --array=3-4", "2 sbatch --array=5",
			"30 squeue", "60 squeue", "60 sbatch --array=4", "90 squeue",
			"124 sbatch --array=4", "125 scancel --state=PENDING", "3725 scancel --state=PENDING"}, a.said)
	})
}

// While squeue fails it is run after longer and longer pauses, for all arrays together; once it has
// answered they are short again.
func TestLooksThatFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		a := &asked{began: time.Now(), down: errors.New("no slurmctld")}
		c := newCompanions(&Options{Job: "7", Log: slog.New(slog.NewTextHandler(&log, nil))}, a.submit, a.known)
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan bool)
		c.ask(1)
		go func() {
			c.run(ctx)
			close(over)
		}()
		time.Sleep(20 * time.Second)
		c.ask(2)
		time.Sleep(2200 * time.Second)
		a.set(nil, "1", "2")
		time.Sleep(600 * time.Second)
		a.set(errors.New("no slurmctld"))
		c.ask(3) // at 2820
		time.Sleep(100 * time.Second)
		cancel()
		<-over
		require.Equal(t, []string{"0 scancel", "0 sbatch --array=1", "20 sbatch --array=2",
			"30 squeue", "60 squeue", "120 squeue", "240 squeue", "480 squeue", "960 squeue", "1560 squeue", "2160 squeue",
			"2760 squeue", "2820 sbatch --array=3", "2850 squeue", "2880 squeue", "2920 scancel --state=PENDING"}, a.said)
		require.Equal(t, 10, strings.Count(log.String(), `msg="it is not known whether Slurm has forgotten companions"`))
		require.Equal(t, 3, strings.Count(log.String(), "again_in=10m0s"))
	})
}

// An array whose number sbatch does not say is not looked for, and the log says so once for each
// sbatch.
func TestAnArrayWithoutANumber(t *testing.T) {
	var log bytes.Buffer
	o := &Options{Job: "7", Log: slog.New(slog.NewTextHandler(&log, nil))}
	c := newCompanions(o, nil, func(context.Context, string) (map[string]bool, error) {
		require.Fail(t, "there is nothing to look for")
		return nil, nil
	})
	for k, said := range []string{"", "\n", ";cluster\n", "Submitted batch job 12\n", "-3\n", "12\n13\n"} {
		c.submitted(said, []int{1, 2, 3})
		require.Equal(t, k+1, strings.Count(log.String(), `level=WARN msg="sbatch has not said the number`), "%q", said)
		require.Equal(t, k+1, strings.Count(log.String(), "places=1-3"))
		require.Nil(t, c.lookTime())
		c.look(t.Context())
	}
	log.Reset()
	for k, said := range []string{"12", "13\n", "14;cluster\n"} {
		c.submitted(said, []int{k})
		require.Empty(t, log.String())
		require.Len(t, c.unseen, k+1)
	}
	require.NotNil(t, c.lookTime())
}
