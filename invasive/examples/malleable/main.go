// SPDX-License-Identifier: BSD-3-Clause

// Command malleable is a malleable job to try an iHypervisor with: as many workers as it has cores
// add up a series in chunks. Between two chunks, where nothing is half done, workers come and go as
// the iHypervisor wishes.
//
//	malleable --seconds 30             adapts
//	malleable --seconds 30 --least 2   refuses to have less than 2
//	malleable --until FILE             ends when there is such a file, or after --seconds
//
// Outside an iHypervisor it works with as many workers as Go sees CPUs.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/aucsched/aucsched/invasive/malleable"
)

func main() {
	seconds := flag.Float64("seconds", 10, "how long to work")
	least := flag.Int("least", 1, "refuse to have fewer cores")
	until := flag.String("until", "", "a file with which the work ends")
	flag.Parse()
	if err := work(time.Duration(*seconds*float64(time.Second)), *least, *until); err != nil {
		fmt.Fprintln(os.Stderr, "malleable:", err)
		os.Exit(1)
	}
}

func work(d time.Duration, least int, file string) error {
	workers := runtime.NumCPU()
	changes := make(<-chan malleable.Change)
	client, err := malleable.Connect(os.Getenv)
	switch {
	case err == nil:
		defer client.Close()
		changes = client.Changes()
	case err != malleable.ErrNoHypervisor:
		return err
	}
	sum, next := 0.0, 1
	for until := time.Now().Add(d); time.Now().Before(until) && !exists(file); {
		select { // a safe point: nobody works
		case change := <-changes:
			if len(change.Cores) < min(least, workers) {
				fmt.Printf("keeps %d cores\n", workers)
				client.Keep(change, "too few to go on with")
				break
			}
			workers = len(change.Cores)
			fmt.Printf("works on %d cores: %s\n", workers, malleable.FormatList(change.Cores))
			client.Done(change)
		default:
		}
		sum += step(&next, workers)
	}
	fmt.Printf("sum %.6f\n", sum)
	return nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return file != "" && err == nil
}

const chunk = 1 << 20

// step has each worker add up one chunk of 1/n².
func step(next *int, workers int) (sum float64) {
	parts := make([]float64, workers)
	var all sync.WaitGroup
	for w := range workers {
		from := *next + w*chunk
		all.Go(func() {
			for n := from; n < from+chunk; n++ {
				parts[w] += 1 / (float64(n) * float64(n))
			}
		})
	}
	all.Wait()
	*next += workers * chunk
	for _, p := range parts {
		sum += p
	}
	return sum
}
