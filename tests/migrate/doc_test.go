// Package migrate_test tests the migrations as a whole, on databases of their own.
package migrate_test
