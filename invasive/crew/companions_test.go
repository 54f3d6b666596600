// SPDX-License-Identifier: BSD-3-Clause

package crew

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
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
}

func (a *asked) submit(_ context.Context, _ string, argv ...string) error {
	text := strings.Join(argv, " ")
	user := fmt.Sprint(" --user=", os.Getuid())
	for _, same := range []string{" --parsable --quiet --nodes=1 --job-name=crew-7", " --export=ALL", " --quiet", user, " --name=crew-7"} {
		text = strings.Replace(text, same, "", 1)
	}
	a.said = append(a.said, fmt.Sprint(time.Since(a.began).Seconds(), " ", text))
	if argv[0] == "sbatch" && a.fails > 0 {
		a.fails--
		return errors.New("no slurmctld")
	}
	return nil
}

// Places are asked for together, and again after longer and longer pauses; what sbatch has refused
// is not lost. Afterwards nothing waits.
func TestCompanionsAreAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &asked{began: time.Now(), fails: 2}
		c := newCompanions(&Options{Job: "7", Args: []string{"-p", "low"}, Log: quiet}, a.submit)
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
			"109 sbatch --array=2 -p low", "219 sbatch --array=2 -p low",
			"309 sbatch --array=2 -p low", "310 sbatch --array=5 -p low",
			"349 scancel --state=PENDING",
		}, a.said)
		require.Empty(t, c.take())
	})
}
