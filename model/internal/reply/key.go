package reply

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Key makes an identifier of a name: letters of any script in lower case,
// digits and marks, everything between them one underscore. "foodPreference",
// "Food preference" and "food-preference" all become "food_preference"; "喜欢的
// 食物" becomes "喜欢的_食物". The result is empty when nothing is left.
func Key(name string) string {
	var b strings.Builder
	gap, lower := false, false
	for _, r := range norm.NFKC.String(name) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			gap = true
			continue
		}
		if (gap || lower && unicode.IsUpper(r)) && b.Len() > 0 {
			b.WriteByte('_')
		}
		gap, lower = false, unicode.IsLower(r) || unicode.IsDigit(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
