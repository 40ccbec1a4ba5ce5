package worker

import (
	"fmt"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/robfig/cron/v3"
)

// Cron reads a schedule: the five fields of cron ("0 3 * * *"), or "@daily", "@every 6h" and the
// like. Times of day are in the zone, where clocks may be put forward or back; nil means UTC.
// "never" is a schedule that never comes.
func Cron(expression string, zone *time.Location) (river.PeriodicSchedule, error) {
	if expression == "never" {
		return river.NeverSchedule(), nil
	}
	if zone == nil {
		zone = time.UTC
	}
	if strings.HasPrefix(expression, "TZ=") || strings.HasPrefix(expression, "CRON_TZ=") {
		return nil, fmt.Errorf("read the schedule %q: give the time zone by itself", expression)
	}
	schedule, err := cron.ParseStandard(expression)
	if err != nil {
		return nil, fmt.Errorf("read the schedule %q: %w", expression, err)
	}
	s := inZone{schedule: schedule, zone: zone}
	if s.Next(time.Now()).IsZero() {
		return nil, fmt.Errorf("read the schedule %q: it never comes", expression)
	}
	return s, nil
}

// inZone makes a schedule that counts in the zone of the time it is given count in a zone of ours.
type inZone struct {
	schedule cron.Schedule
	zone     *time.Location
}

// Next is the first time of the schedule after a time.
func (s inZone) Next(after time.Time) time.Time { return s.schedule.Next(after.In(s.zone)) }
