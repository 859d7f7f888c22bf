#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <pthread.h>

// glibc declares it only for C programs that ask for its extensions.
int pthread_setname_np(pthread_t thread, const char *name);
