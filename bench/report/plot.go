package report

// Plot is lines over a common axis.
type Plot struct {
	// Name is what its file is called after.
	Name  string
	Title string
	X, Y  string
	// LogX and LogY draw an axis by powers of ten.
	LogX, LogY bool
	Series     []Series
}

// Series is a line.
type Series struct {
	Name   string
	Points [][2]float64
}
