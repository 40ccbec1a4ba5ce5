package model

// leastShare is what is taken for nothing: the database keeps shares in single
// precision, and its functions refuse what that can't hold.
const leastShare = 1e-30

// Share brings a number to 0 to 1, for what the database keeps as a share:
// confidence, intensity, importance. NaN is 0.
func Share(f float64) float64 {
	switch {
	case f >= 1:
		return 1
	case f >= leastShare:
		return f
	}
	return 0
}
