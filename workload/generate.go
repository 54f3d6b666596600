package workload

import (
	"errors"
	"fmt"
	"strings"
)

// GeneratorPrefix tells the specification of a generated workload from the path of
// a file.
const GeneratorPrefix = "gen:"

// generator makes the workload of a name.
type generator struct {
	name string // without the prefix
	make func(seed uint64) (*Workload, error)
}

// generators are all that Generate knows, in the order of its messages.
func generators() []generator {
	return tsubameGenerators()
}

// Generate makes the workload that spec names, such as "gen:tsubame-1.NC-ranges".
// The same spec and seed give the same workload. [Generators] lists the names;
// another one is an error that lists them too.
func Generate(spec string, seed uint64) (*Workload, error) {
	name, ok := strings.CutPrefix(spec, GeneratorPrefix)
	for _, g := range generators() {
		if ok && g.name == name {
			return g.make(seed)
		}
	}
	return nil, fmt.Errorf("workload %s: %w; known are %s", quote(spec), ErrUnknownGenerator, strings.Join(Generators(), ", "))
}

// ErrUnknownGenerator says that Generate does not know a name.
var ErrUnknownGenerator = errors.New("no such generator")

// Generators lists the specifications that Generate takes.
func Generators() []string {
	var names []string
	for _, g := range generators() {
		names = append(names, GeneratorPrefix+g.name)
	}
	return names
}
