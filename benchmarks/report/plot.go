// SPDX-License-Identifier: BSD-3-Clause

package report

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/aucsched/aucsched/nodeset"
)

// Panels are the names of a plot's panels, from above.
func Panels() []string { return []string{"comparison", "use", "queue", "gantt"} }

// PlotFormats are the endings of the files that Plot can write.
func PlotFormats() []string { return []string{".pdf", ".svg"} }

// Comparison is by how much policies differ from the first.
type Comparison struct {
	To      string   // that one
	Figures []string // what is compared, in words
	With    []Differences
}

// Differences are those of a policy, in percent of the first one's figures: each with what it may be
// by chance, either way; 0 where that is not known.
type Differences struct {
	Policy         string
	Percent, Noise []float64
}

// The size of a plot is that of a page of two columns.
const (
	plotWidth    = 17 * vg.Centimeter
	plotMargin   = 2 * vg.Millimeter
	legendHeight = 6 * vg.Millimeter
	ganttWide    = 1000 // pixels
	ganttHigh    = 300
	plotSpans    = 400 // of a curve
)

// plotColours are those of Okabe and Ito, which people who see few colours tell apart.
var plotColours = []color.RGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}, {86, 180, 233, 255}, {230, 159, 0, 255},
}

// plotDashes tell lines apart in print.
var plotDashes = [][]vg.Length{nil, {vg.Points(5), vg.Points(2)}, {vg.Points(1.5), vg.Points(1.5)},
	{vg.Points(5), vg.Points(2), vg.Points(1), vg.Points(2)}}

// panel is a plot and its height.
type panel struct {
	*plot.Plot
	height vg.Length
}

// Plot draws panels below each other in the format of a file that ends so. Names are what the runs are
// called there.
func (p *Page) Plot(w io.Writer, ending string, panels, names []string, c *Comparison) error {
	var all []panel
	for _, name := range panels {
		some, err := p.panels(name, names, c, ending == ".pdf")
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, some...)
	}
	height := plotMargin + legendHeight
	for _, x := range all {
		height += x.height
	}
	type file interface {
		vg.CanvasSizer
		io.WriterTo
	}
	var out file = vgsvg.New(plotWidth, height)
	if ending == ".pdf" {
		out = vgpdf.New(plotWidth, height)
	}
	page := draw.New(out)
	page.SetColor(color.White)
	page.Fill(page.Rectangle.Path())
	legend(page, names)
	top := page.Max.Y - plotMargin - legendHeight
	for _, x := range all {
		at := draw.Canvas{Canvas: page, Rectangle: vg.Rectangle{
			Min: vg.Point{X: page.Min.X + plotMargin, Y: top - x.height + plotMargin}, Max: vg.Point{X: page.Max.X - plotMargin, Y: top}}}
		x.Draw(at)
		top -= x.height
	}
	if ending == ".pdf" {
		_, err := out.WriteTo(w)
		return err
	}
	var text bytes.Buffer
	if _, err := out.WriteTo(&text); err != nil {
		return err
	}
	// or else a viewer keeps an image's proportions
	_, err := w.Write(bytes.ReplaceAll(text.Bytes(), []byte("<image "), []byte(`<image preserveAspectRatio="none" `)))
	return err
}

// legend is a line that says which policy has which colour, on top of the page.
func legend(page draw.Canvas, names []string) {
	style := newPanel(0).Legend.TextStyle
	style.YAlign = draw.YCenter
	x, y := page.Min.X+plotMargin, page.Max.Y-plotMargin-legendHeight/2
	for i, name := range names {
		line := draw.LineStyle{Color: colourOf(i), Width: vg.Points(1.2), Dashes: dashesOf(i)}
		page.StrokeLine2(line, x, y, x+vg.Centimeter, y)
		if i > 0 {
			page.DrawGlyph(draw.GlyphStyle{Color: colourOf(i), Radius: vg.Points(2.5), Shape: shapeOf(i - 1)},
				vg.Point{X: x + vg.Centimeter/2, Y: y})
		}
		page.FillText(style, vg.Point{X: x + 1.15*vg.Centimeter, Y: y}, name)
		x += 1.6*vg.Centimeter + style.Width(name)
	}
}

func dashesOf(i int) []vg.Length { return plotDashes[i%len(plotDashes)] }

// panels are those of a name.
func (p *Page) panels(name string, names []string, c *Comparison, overturned bool) (all []panel, err error) {
	_, gpus := total(p.Nodes)
	switch name {
	case "comparison":
		if c == nil || len(c.With) == 0 {
			return nil, nil // there is nothing to compare
		}
		return one(c.draw())
	case "use":
		all, err = one(p.curves(names, "cores in use, %", 100, func(d *runData) []float64 { return d.CPU }))
		if err == nil && gpus > 0 {
			var more []panel
			more, err = one(p.curves(names, "GPUs in use, %", 100, func(d *runData) []float64 { return d.GPU }))
			all = append(all, more...)
		}
		return all, err
	case "queue":
		return one(p.curves(names, "jobs waiting", 1, func(d *runData) []float64 { return d.Queue }))
	}
	for i := range p.Runs {
		x, err := p.gantt(i, names[i], overturned)
		if err != nil {
			return nil, err
		}
		all = append(all, *x)
	}
	return all, nil
}

func one(x *panel, err error) ([]panel, error) {
	if err != nil {
		return nil, err
	}
	return []panel{*x}, nil
}

func newPanel(height vg.Length) *panel {
	p := plot.New()
	for _, s := range []*vg.Length{&p.X.Label.TextStyle.Font.Size, &p.Y.Label.TextStyle.Font.Size, &p.X.Tick.Label.Font.Size,
		&p.Y.Tick.Label.Font.Size, &p.Legend.TextStyle.Font.Size, &p.Title.TextStyle.Font.Size} {
		*s = vg.Points(9)
	}
	p.X.Padding, p.Y.Padding = 0, 0
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(roundTicks), plot.TickerFunc(roundTicks)
	return &panel{p, height}
}

// roundTicks returns 3 to 8 ticks, each with its label, at multiples of 1, 2 or 5 times a power of ten.
func roundTicks(low, high float64) (ticks []plot.Tick) {
	step := math.Pow(10, math.Floor(math.Log10((high-low)/3)))
	for _, f := range []float64{5, 2} {
		if (high-low)/step >= 3*f {
			step *= f
			break
		}
	}
	for k := math.Ceil(low / step); k*step <= high; k++ {
		ticks = append(ticks, plot.Tick{Value: k * step, Label: strconv.FormatFloat(k*step, 'g', 6, 64)})
	}
	return ticks
}

// draw has a row for each figure, and in it a point with its interval for each policy.
func (c *Comparison) draw() (*panel, error) {
	p := newPanel(vg.Length(len(c.Figures)) * (0.35 + 0.22*vg.Length(len(c.With))) * vg.Centimeter)
	p.height += 1.8 * vg.Centimeter
	p.X.Label.Text = fmt.Sprintf("difference from %s, %%", c.To)
	grid := plotter.NewGrid()
	grid.Horizontal.Width = 0
	p.Add(grid)
	var ticks []plot.Tick
	n := len(c.Figures)
	for k, figure := range c.Figures {
		ticks = append(ticks, plot.Tick{Value: float64(n - 1 - k), Label: figure})
	}
	p.Y.Tick.Marker = plot.ConstantTicks(ticks)
	p.Y.Min, p.Y.Max = -0.5, float64(n)-0.5
	p.X.Min, p.X.Max = 0, 0
	zero, err := plotter.NewLine(plotter.XYs{{X: 0, Y: p.Y.Min}, {X: 0, Y: p.Y.Max}})
	if err != nil {
		return nil, err
	}
	p.Add(zero)
	for i, d := range c.With {
		points := struct {
			plotter.XYs
			plotter.XErrors
		}{}
		for k := range c.Figures {
			y := float64(n-1-k) + 0.6*(0.5-(float64(i)+0.5)/float64(len(c.With)))
			points.XYs = append(points.XYs, plotter.XY{X: d.Percent[k], Y: y})
			points.XErrors = append(points.XErrors, struct{ Low, High float64 }{d.Noise[k], d.Noise[k]})
		}
		dots, err := plotter.NewScatter(points.XYs)
		if err != nil {
			return nil, err
		}
		bars, err := plotter.NewXErrorBars(points)
		if err != nil {
			return nil, err
		}
		dots.Color, dots.Radius, dots.Shape = colourOf(i+1), vg.Points(2.5), shapeOf(i)
		bars.Color, bars.CapWidth = colourOf(i+1), vg.Points(4)
		p.Add(bars, dots)
	}
	room := (p.X.Max - p.X.Min) * 0.03
	p.X.Min, p.X.Max = p.X.Min-room, p.X.Max+room
	return p, nil
}

func colourOf(i int) color.Color { return plotColours[i%len(plotColours)] }

func shapeOf(i int) draw.GlyphDrawer {
	return []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}}[i%4]
}

// timeUnit is a unit of a time axis.
type timeUnit struct {
	name string
	size float64 // seconds
}

// ends are the first submission, the last end, and a unit for times between them.
func (p *Page) ends() (origin, end int64, unit timeUnit) {
	origin = p.origin()
	end = origin + 1
	for i := range p.Runs {
		for k := range p.Runs[i].Log.ran {
			end = max(end, p.Runs[i].Log.ran[k].end)
		}
	}
	switch length := end - origin; {
	case length > 4*86400:
		return origin, end, timeUnit{"d", 86400}
	case length > 3*3600:
		return origin, end, timeUnit{"h", 3600}
	}
	return origin, end, timeUnit{"min", 60}
}

// curves has a line for each run.
func (p *Page) curves(names []string, what string, scale float64, of func(*runData) []float64) (*panel, error) {
	origin, end, unit := p.ends()
	x := newPanel(4.5 * vg.Centimeter)
	x.Y.Label.Text, x.X.Label.Text = what, "time since the first submission, "+unit.name
	x.X.Min, x.X.Max, x.Y.Min = 0, float64(end-origin)/unit.size, 0
	x.Add(plotter.NewGrid())
	classes := 0
	for i := range p.Workload.Jobs {
		classes = max(classes, sizeClass(size(&p.Workload.Jobs[i]))+1)
	}
	for i := range p.Runs {
		d := p.runOver(&p.Runs[i], origin, end, classes, plotSpans)
		values := of(&d)
		step := float64(newCurve(origin, end, plotSpans).step) / unit.size
		var line plotter.XYs
		for k, v := range values { // steps
			at := float64(k) * step
			line = append(line, plotter.XY{X: at, Y: scale * v}, plotter.XY{X: min(at+step, x.X.Max), Y: scale * v})
		}
		l, err := plotter.NewLine(line)
		if err != nil {
			return nil, err
		}
		l.Color, l.Width, l.Dashes = colourOf(i), vg.Points(0.9), dashesOf(i)
		x.Add(l)
	}
	x.Y.Max *= 1.02
	return x, nil
}

// gantt has a row for each node and a colour for each job: an image, as one of vectors would be large.
// gonum's PDF has images overturned.
func (p *Page) gantt(run int, name string, overturned bool) (*panel, error) {
	origin, end, unit := p.ends()
	x := newPanel(5.5 * vg.Centimeter)
	x.Title.Text = name
	x.Y.Label.Text, x.X.Label.Text = "node", "time since the first submission, "+unit.name
	g := newRaster(len(p.Nodes), origin, end)
	log := p.Runs[run].Log
	order, position := log.numbered(p.Workload.Jobs)
	for _, j := range order {
		for _, s := range log.segments(j) {
			g.add(s, j.start, j.end, p.share(s), hue(position[j.job]))
		}
	}
	span := float64(end-origin) / unit.size
	x.Add(plotter.NewImage(g.image(overturned), 0, 0, span, float64(len(p.Nodes))))
	x.X.Min, x.X.Max, x.Y.Min, x.Y.Max = 0, span, 0, float64(len(p.Nodes))
	return x, nil
}

// share is which part of its nodes an allocation takes: of their cores or GPUs, whichever is more.
func (p *Page) share(s nodeset.Segment) float64 {
	c := p.Nodes[s.First]
	return min(1, max(float64(s.Cores)/float64(max(c.Cores, 1)), float64(s.GPUs)/float64(max(c.GPUs, 1))))
}

// hue is a colour of a job, light enough to print, unlike those of its neighbours.
func hue(job int) [3]float64 {
	turn := math.Mod(float64(job)*0.61803398875, 1) * 6
	var c [3]float64
	for k, at := range []float64{0, 2, 4} {
		d := math.Abs(math.Mod(turn-at+9, 6) - 3) // 3 at the hue itself
		c[k] = 0.58 + 0.36*min(max(d-1, 0), 1)
	}
	return c
}

// raster is a picture of which job has which node when: of each pixel how much of its nodes' time is
// taken, and the sum of the colours, so weighted.
type raster struct {
	nodes       int
	origin, end int64
	high        int
	taken       []float64
	colours     [][3]float64
}

func newRaster(nodes int, origin, end int64) *raster {
	high := min(nodes, ganttHigh)
	return &raster{nodes, origin, end, high, make([]float64, ganttWide*high), make([][3]float64, ganttWide*high)}
}

func (g *raster) add(s nodeset.Segment, from, to int64, share float64, colour [3]float64) {
	perColumn := float64(g.end-g.origin) / ganttWide
	perRow := float64(g.nodes) / float64(g.high)
	left, right := float64(from-g.origin)/perColumn, float64(to-g.origin)/perColumn
	low, up := float64(s.First)/perRow, float64(s.Last+1)/perRow
	for y := int(low); y < g.high && float64(y) < up; y++ {
		part := share * (min(float64(y+1), up) - max(float64(y), low))
		for x := int(left); x < ganttWide && float64(x) < right; x++ {
			w := part * (min(float64(x+1), right) - max(float64(x), left))
			at := y*ganttWide + x
			g.taken[at] += w
			for k := range colour {
				g.colours[at][k] += w * colour[k]
			}
		}
	}
}

// image has the first node at the bottom, or overturned at the top. Rows are repeated where there are
// few, so that no viewer blurs them.
func (g *raster) image(overturned bool) image.Image {
	times := max(ganttHigh/g.high, 1)
	out := image.NewRGBA(image.Rect(0, 0, ganttWide, g.high*times))
	for at, taken := range g.taken {
		taken = max(taken, 1e-9)
		var c [3]uint8
		for k := range c {
			c[k] = uint8(math.Round(255 * ((1 - min(taken, 1)) + g.colours[at][k]/taken*min(taken, 1))))
		}
		y, x := at/ganttWide, at%ganttWide
		if !overturned {
			y = g.high - 1 - y
		}
		for i := range times {
			out.SetRGBA(x, y*times+i, color.RGBA{c[0], c[1], c[2], 255})
		}
	}
	return out
}

// PlotEnding is the format of a plot's file, by its name.
func PlotEnding(path string) (string, error) {
	ending := strings.ToLower(filepath.Ext(path))
	if !slices.Contains(PlotFormats(), ending) {
		return "", fmt.Errorf("%s: must end in %s", path, strings.Join(PlotFormats(), " or "))
	}
	return ending, nil
}
