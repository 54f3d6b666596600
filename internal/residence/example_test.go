// SPDX-License-Identifier: BSD-3-Clause

package residence_test

import (
	"fmt"

	"github.com/aucsched/aucsched/internal/residence"
)

func Example() {
	s := residence.New(0)
	s.SetMachine([]residence.Node{{ID: 1, Capacity: 100 << 30}, {ID: 2, Capacity: 100 << 30}})
	const genome, mesh = 7, 8 // as the caller numbers them
	s.Read(0, genome, 60<<30, 1000)
	s.Read(1, genome, 60<<30, 1010)
	fmt.Println("loaded again:", !s.Read(0, genome, 60<<30, 1020))
	s.Read(1, mesh, 80<<30, 1030) // pushes the other one out there
	fmt.Println("which nodes hold it:", s.Holds(0, genome), s.Holds(1, genome))
	// Output:
	// loaded again: false
	// which nodes hold it: true false
}
