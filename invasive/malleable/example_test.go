// SPDX-License-Identifier: BSD-3-Clause

package malleable_test

import (
	"fmt"

	"github.com/aucsched/aucsched/invasive/malleable"
)

// A job that adapts between two steps of its work.
func Example() {
	steps := []func(threads int){func(threads int) { fmt.Println("a step with", threads, "threads") }}
	threads := 4
	client, err := malleable.Connect(func(string) string { return "" }) // os.Getenv
	if err != nil {
		fmt.Println(err) // and it goes on as it always did
	} else {
		defer client.Close()
	}
	for _, step := range steps {
		if client != nil {
			select {
			case change := <-client.Changes():
				threads = len(change.Cores)
				client.Done(change)
			default:
			}
		}
		step(threads)
	}
	// Output:
	// AUCSCHED_INVASIVE is not set: no iHypervisor runs this programme
	// a step with 4 threads
}
