#pragma once

// What Keel calls of Caliper, declared as Caliper does; tests/kernels/test_regions.cpp defines it.

extern "C" {
void cali_begin_region(const char* name);
void cali_end_region(const char* name);
}
