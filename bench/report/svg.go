package report

import (
	"fmt"
	"html"
	"io"
	"math"
	"strconv"
	"strings"
)

// The plot's measures, in pixels. Plots are drawn by hand: they are lines, ticks and a legend, and a
// plotting library would bring fonts and rasterisers that nothing else needs.
const (
	plotWidth, plotHeight   = 720, 400
	plotLeft, plotRight     = 64, 200
	plotTop, plotBottom     = 40, 52
	plotTicks               = 6
	plotInnerW, plotInnerH  = plotWidth - plotLeft - plotRight, plotHeight - plotTop - plotBottom
	plotLegend, plotLegendY = plotWidth - plotRight + 16, plotTop + 8
)

// plotColours can be told apart by the colour-blind (Okabe and Ito 2008).
var plotColours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"}

// WriteSVG draws the plot. It fails only where the writer does.
func (p *Plot) WriteSVG(w io.Writer) error {
	x, y := newAxis(p, 0, p.LogX), newAxis(p, 1, p.LogY)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n",
		plotWidth, plotHeight)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", plotWidth, plotHeight)
	text := func(x, y float64, anchor, extra, text string) {
		fmt.Fprintf(&b, `<text x="%s" y="%s" text-anchor="%s"%s>%s</text>`+"\n", px(x), px(y), anchor, extra, html.EscapeString(text))
	}
	line := func(x1, y1, x2, y2 float64, colour string) {
		fmt.Fprintf(&b, `<line x1="%s" y1="%s" x2="%s" y2="%s" stroke="%s"/>`+"\n", px(x1), px(y1), px(x2), px(y2), colour)
	}
	atX := func(v float64) float64 { return plotLeft + plotInnerW*x.place(v) }
	atY := func(v float64) float64 { return plotTop + plotInnerH*(1-y.place(v)) }
	text(plotLeft, 22, "start", ` font-size="15"`, p.Title)
	for _, tick := range x.ticks {
		line(atX(tick), plotTop, atX(tick), plotTop+plotInnerH, "#e5e5e5")
		text(atX(tick), plotTop+plotInnerH+18, "middle", "", short(tick))
	}
	for _, tick := range y.ticks {
		line(plotLeft, atY(tick), plotLeft+plotInnerW, atY(tick), "#e5e5e5")
		text(plotLeft-8, atY(tick)+4, "end", "", short(tick))
	}
	text(plotLeft+plotInnerW/2, plotHeight-12, "middle", "", p.X)
	text(16, plotTop+plotInnerH/2, "middle", fmt.Sprintf(` transform="rotate(-90 16 %d)"`, plotTop+plotInnerH/2), p.Y)
	for i, s := range p.Series {
		colour := plotColours[i%len(plotColours)]
		points := make([]string, len(s.Points))
		for n, point := range s.Points {
			points[n] = px(atX(point[0])) + "," + px(atY(point[1]))
			fmt.Fprintf(&b, `<circle cx="%s" cy="%s" r="3" fill="%s"/>`+"\n", px(atX(point[0])), px(atY(point[1])), colour)
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(points, " "), colour)
		line(plotLegend, plotLegendY+float64(20*i), plotLegend+16, plotLegendY+float64(20*i), colour)
		text(plotLegend+22, plotLegendY+float64(20*i)+4, "start", "", s.Name)
	}
	b.WriteString("</svg>\n")
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write a plot: %w", err)
	}
	return nil
}

// axis maps values to 0 to 1.
type axis struct {
	low, high float64
	log       bool
	ticks     []float64
}

// newAxis makes an axis, 0 or 1, that holds all of the plot's points.
func newAxis(p *Plot, which int, log bool) *axis {
	a := &axis{high: math.Inf(-1), log: log, low: math.Inf(1)}
	for _, s := range p.Series {
		for _, point := range s.Points {
			a.low, a.high = min(a.low, point[which]), max(a.high, point[which])
		}
	}
	if a.low > a.high {
		a.low, a.high = 0, 1
	}
	if a.log && a.low > 0 {
		a.logTicks(p, which)
		return a
	}
	a.log = false
	if a.low > 0 {
		a.low = 0
	}
	step := niceStep((a.high - a.low) / plotTicks)
	a.low, a.high = step*math.Floor(a.low/step), step*math.Ceil(a.high/step)
	if a.low == a.high {
		a.high += step
	}
	for n := range int(math.Round((a.high-a.low)/step)) + 1 {
		a.ticks = append(a.ticks, a.low+float64(n)*step)
	}
	return a
}

// logTicks has powers of ten, and between two the points themselves where they are few.
func (a *axis) logTicks(p *Plot, which int) {
	if which == 0 && len(p.Series) > 0 && len(p.Series[0].Points) <= 2*plotTicks {
		for _, point := range p.Series[0].Points {
			a.ticks = append(a.ticks, point[0])
		}
	} else {
		a.low, a.high = math.Pow(10, math.Floor(math.Log10(a.low))), math.Pow(10, math.Ceil(math.Log10(a.high)))
		for tick := a.low; tick <= a.high*1.001; tick *= 10 {
			a.ticks = append(a.ticks, tick)
		}
	}
	if a.low == a.high {
		a.high *= 10
	}
}

func (a *axis) place(v float64) float64 {
	if a.log {
		return (math.Log(v) - math.Log(a.low)) / (math.Log(a.high) - math.Log(a.low))
	}
	return (v - a.low) / (a.high - a.low)
}

// niceStep is the least of 1, 2, 5, 10, … that is no less than a step.
func niceStep(step float64) float64 {
	if step <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(step)))
	for _, n := range []float64{1, 2, 5} {
		if n*power >= step*(1-1e-9) {
			return n * power
		}
	}
	return 10 * power
}

func px(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// short writes a number as a tick has it: 50k, 0.5.
func short(v float64) string {
	switch {
	case math.Abs(v) >= 1e6:
		return strconv.FormatFloat(v/1e6, 'g', 4, 64) + "M"
	case math.Abs(v) >= 1e4:
		return strconv.FormatFloat(v/1e3, 'g', 4, 64) + "k"
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
