#ifdef __linux__
#define _GNU_SOURCE
#endif
#include "CBatonCurl.h"

#ifdef __linux__

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/// The number of objects of libcurl that exist.
static atomic_long object_count;

/// Counts an object, unless it could not be made.
static void *made(void *object) {
    if (object) atomic_fetch_add_explicit(&object_count, 1, memory_order_relaxed);
    return object;
}

static void freed(void) { atomic_fetch_sub_explicit(&object_count, 1, memory_order_relaxed); }

long baton_curl_object_count(void) { return atomic_load_explicit(&object_count, memory_order_relaxed); }

CURL *baton_curl_make_handle(void) { return made(curl_easy_init()); }

void baton_curl_free_handle(CURL *handle) {
    curl_easy_cleanup(handle);
    freed();
}

CURLM *baton_curl_make_multi(void) { return made(curl_multi_init()); }

void baton_curl_free_multi(CURLM *multi) {
    curl_multi_cleanup(multi);
    freed();
}

void baton_curl_free_share(CURLSH *share) {
    curl_share_cleanup(share);
    freed();
}

struct curl_slist *baton_curl_append(struct curl_slist *list, const char *text) {
    struct curl_slist *longer = curl_slist_append(list, text);
    return list ? longer : made(longer);
}

void baton_curl_free_list(struct curl_slist *list) {
    if (!list) return;
    curl_slist_free_all(list);
    freed();
}

CURLcode baton_curl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

CURLcode baton_curl_set_offset(CURL *handle, CURLoption option, long long value) {
    return curl_easy_setopt(handle, option, (curl_off_t)value);
}

CURLcode baton_curl_set_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

CURLcode baton_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

CURLcode baton_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *list) {
    return curl_easy_setopt(handle, option, list);
}

CURLcode baton_curl_set_data(CURL *handle, CURLoption option, baton_curl_data function) {
    return curl_easy_setopt(handle, option, function);
}

CURLcode baton_curl_set_seek(CURL *handle, baton_curl_seek function) {
    return curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, function);
}

CURLcode baton_curl_set_progress(CURL *handle, baton_curl_progress function) {
    return curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, function);
}

CURLcode baton_curl_set_request(CURL *handle, baton_curl_request function) {
    return curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, function);
}

CURLcode baton_curl_set_socket(CURL *handle, baton_curl_socket function) {
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, function);
}

CURLcode baton_curl_set_resolve(CURL *handle, baton_curl_resolve function) {
    return curl_easy_setopt(handle, CURLOPT_RESOLVER_START_FUNCTION, function);
}

long baton_curl_long(CURL *handle, CURLINFO info) {
    long value = 0;
    curl_easy_getinfo(handle, info, &value);
    return value;
}

void *baton_curl_private(CURL *handle) {
    char *value = NULL;
    curl_easy_getinfo(handle, CURLINFO_PRIVATE, &value);
    return value;
}

/// Returns whether a descriptor is one of the last that the process may open. Descriptors are given out from the lowest
/// number, so nearly all others are in use then.
static int is_reserved(int descriptor) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 0;
    rlim_t count = limit.rlim_cur / 8;
    if (count > 16) count = 16;
    return (rlim_t)descriptor >= limit.rlim_cur - count;
}

curl_socket_t baton_curl_open(const struct curl_sockaddr *address) {
    curl_socket_t made = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (made >= 0 && is_reserved(made)) {
        close(made);
        errno = EMFILE;
        return -1;
    }
    int bytes = 128 * 1024;
    if (made >= 0) setsockopt(made, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof bytes);
    return made;
}

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static int port(const union address *address) {
    switch (address->any.sa_family) {
    case AF_INET: return ntohs(address->v4.sin_port);
    case AF_INET6: return ntohs(address->v6.sin6_port);
    default: return 0;
    }
}

int baton_curl_is_connection(curl_socket_t socket, int local_port, const char *peer, int peer_port) {
    union address here, there;
    socklen_t size = sizeof here;
    if (getsockname(socket, &here.any, &size) != 0 || port(&here) != local_port) return 0;
    size = sizeof there;
    // A socket that was reset has no peer any more.
    if (getpeername(socket, &there.any, &size) != 0) return errno == ENOTCONN;
    if (port(&there) != peer_port) return 0;
    unsigned char bytes[sizeof(struct in6_addr)];
    if (inet_pton(there.any.sa_family, peer, bytes) != 1) return 0;
    return there.any.sa_family == AF_INET ? memcmp(bytes, &there.v4.sin_addr, sizeof there.v4.sin_addr) == 0
                                          : memcmp(bytes, &there.v6.sin6_addr, sizeof there.v6.sin6_addr) == 0;
}

void baton_curl_initialize(void) {
    // Without this, OpenSSL would free at exit what the threads of transports still use. OPENSSL_INIT_NO_ATEXIT is
    // 0x80000.
    int (*initialize)(uint64_t, const void *) =
        (int (*)(uint64_t, const void *))dlsym(RTLD_DEFAULT, "OPENSSL_init_crypto");
    if (initialize) initialize(0x80000, NULL);
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

long baton_curl_silence(curl_socket_t socket) {
    struct tcp_info info;
    socklen_t size = sizeof info;
    if (socket < 0 || getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return -1;
    return info.tcpi_last_data_recv;
}

/// Reads `tcp_info`. Returns 0 on failure, and on older systems, which do not report the numbers of bytes.
static int counts(curl_socket_t socket, struct tcp_info *info) {
    socklen_t size = sizeof *info;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, info, &size) != 0) return 0;
    return size >= offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info->tcpi_bytes_received;
}

long long baton_curl_acknowledged(curl_socket_t socket) {
    struct tcp_info info;
    return counts(socket, &info) ? (long long)info.tcpi_bytes_acked : -1;
}

long long baton_curl_received(curl_socket_t socket) {
    struct tcp_info info;
    return counts(socket, &info) ? (long long)info.tcpi_bytes_received : -1;
}

uint64_t baton_curl_identity(curl_socket_t socket) {
    uint64_t identity = 0;
    socklen_t size = sizeof identity;
    return getsockopt(socket, SOL_SOCKET, SO_COOKIE, &identity, &size) == 0 ? identity : 0;
}

/// `TCP_SYN_SENT` of <netinet/tcp.h>, which cannot be included together with <linux/tcp.h>.
enum { syn_sent = 2 };

int baton_curl_abandon(curl_socket_t socket, uint64_t identity) {
    if (identity == 0 || baton_curl_identity(socket) != identity) return 0;
    struct tcp_info info;
    socklen_t size = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || info.tcpi_state != syn_sent) return 0;
    return shutdown(socket, SHUT_RDWR) == 0;
}

long long baton_curl_read_count(curl_socket_t socket) {
    struct tcp_info info;
    int unread = 0;
    if (!counts(socket, &info) || ioctl(socket, FIONREAD, &unread) != 0) return -1;
    return (long long)info.tcpi_bytes_received - unread;
}

/// Returns the TLS session of the handle's connection. Its `internals` are not null. Returns null if there is none.
static const struct curl_tlssessioninfo *session_of(CURL *handle) {
    struct curl_tlssessioninfo *session = NULL;
    if (curl_easy_getinfo(handle, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK) return NULL;
    return session && session->internals ? session : NULL;
}

int baton_curl_has_tls(CURL *handle) { return session_of(handle) != NULL; }

int baton_curl_speaks_http2(CURL *handle) {
    const struct curl_tlssessioninfo *session = session_of(handle);
    if (!session || session->backend != CURLSSLBACKEND_OPENSSL) return -1;
    void (*selected)(const void *, const unsigned char **, unsigned int *) =
        (void (*)(const void *, const unsigned char **, unsigned int *))dlsym(RTLD_DEFAULT, "SSL_get0_alpn_selected");
    if (!selected) return -1;
    const unsigned char *name = NULL;
    unsigned int length = 0;
    selected(session->internals, &name, &length);
    return length == 2 && memcmp(name, "h2", 2) == 0;
}

int baton_curl_has_read_more(CURL *handle) {
    const struct curl_tlssessioninfo *session = session_of(handle);
    if (!session || session->backend != CURLSSLBACKEND_OPENSSL) return 0;
    int (*pending)(const void *) = (int (*)(const void *))dlsym(RTLD_DEFAULT, "SSL_has_pending");
    return pending && pending(session->internals);
}

int baton_curl_is_readable(curl_socket_t socket) {
    struct pollfd poller = {.fd = socket, .events = POLLIN};
    return poll(&poller, 1, 0) > 0;
}

int baton_curl_is_closed(curl_socket_t socket) {
    struct pollfd poller = {.fd = socket, .events = POLLRDHUP};
    return poll(&poller, 1, 0) > 0;
}

int baton_curl_mute(curl_socket_t socket) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) return -1;
    shutdown(pair[1], SHUT_WR);
    int error;
    // EBUSY: another thread is opening a descriptor at this moment.
    do error = dup3(pair[0], socket, O_CLOEXEC) < 0 ? errno : 0;
    while (error == EINTR || error == EBUSY);
    close(pair[0]);
    if (!error) return pair[1];
    close(pair[1]);
    return -1;
}

CURLMcode baton_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

CURLSH *baton_curl_cookie_share(void) {
    CURLSH *share = made(curl_share_init());
    if (share) curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
    return share;
}

size_t baton_curl_cookie_length(CURL *handle, int all) {
    struct curl_slist *lines = NULL;
    if (curl_easy_getinfo(handle, CURLINFO_COOKIELIST, &lines) != CURLE_OK) return 0;
    size_t longest = 0, sum = 0;
    for (struct curl_slist *line = lines; line; line = line->next) {
        // The fields are domain, whether subdomains are included, path, whether the cookie is secure, and expiry; then
        // name and value.
        const char *text = line->data;
        for (int field = 0; field < 5 && text; field++) {
            text = strchr(text, '\t');
            if (text) text++;
        }
        size_t length = text ? strlen(text) + 2 : 0;
        sum += length;
        if (length > longest) longest = length;
    }
    curl_slist_free_all(lines);
    return all ? sum : longest;
}

CURL *baton_curl_next_ended(CURLM *multi, CURLcode *result) {
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}

#endif
