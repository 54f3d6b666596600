// SPDX-License-Identifier: BSD-3-Clause

package main

import _ "github.com/aucsched/aucsched/internal/capi"

func main() {}
