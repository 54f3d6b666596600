// SPDX-License-Identifier: BSD-3-Clause

// Package style is the style sheet that all pages share.
package style

import (
	_ "embed"
	"html/template"
)

//go:embed page.css
var sheet string

// Sheet is the style sheet.
func Sheet() template.CSS { return template.CSS(sheet) }
