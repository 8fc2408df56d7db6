// libcurl for Swift: functions in place of its variadic ones and of its macros. Empty on other systems than Linux.
#pragma once

#ifdef __linux__

#if !__has_include(<curl/curl.h>)
#error "BatonNetwork needs libcurl: install its headers, on Debian and Ubuntu with apt-get install libcurl4-openssl-dev"
#endif
#include <curl/curl.h>

#if LIBCURL_VERSION_NUM < 0x075500
#error "BatonNetwork needs libcurl 7.85 or later"
#endif

/// The setters of options, one for each kind of value.
CURLcode baton_curl_set_long(CURL *_Nonnull handle, CURLoption option, long value);
CURLcode baton_curl_set_offset(CURL *_Nonnull handle, CURLoption option, long long value);
CURLcode baton_curl_set_string(CURL *_Nonnull handle, CURLoption option, const char *_Nullable value);
CURLcode baton_curl_set_pointer(CURL *_Nonnull handle, CURLoption option, void *_Nullable value);
CURLcode baton_curl_set_list(CURL *_Nonnull handle, CURLoption option, struct curl_slist *_Nullable list);

typedef size_t (*baton_curl_data)(char *_Nonnull bytes, size_t size, size_t count, void *_Nullable context);
typedef int (*baton_curl_seek)(void *_Nullable context, curl_off_t offset, int origin);
typedef int (*baton_curl_progress)(
    void *_Nullable context, curl_off_t toReceive, curl_off_t received, curl_off_t toSend, curl_off_t sent);
typedef int (*baton_curl_request)(
    void *_Nullable context, char *_Nullable peer, char *_Nullable local, int peer_port, int local_port);
typedef curl_socket_t (*baton_curl_socket)(
    void *_Nullable context, curlsocktype purpose, struct curl_sockaddr *_Nullable address);
typedef int (*baton_curl_resolve)(void *_Nullable state, void *_Nullable reserved, void *_Nullable context);

/// The setters of functions. Those for data: to write, to read, and for header lines.
CURLcode baton_curl_set_data(CURL *_Nonnull handle, CURLoption option, baton_curl_data _Nonnull function);
CURLcode baton_curl_set_seek(CURL *_Nonnull handle, baton_curl_seek _Nonnull function);
CURLcode baton_curl_set_progress(CURL *_Nonnull handle, baton_curl_progress _Nonnull function);
CURLcode baton_curl_set_request(CURL *_Nonnull handle, baton_curl_request _Nonnull function);
CURLcode baton_curl_set_socket(CURL *_Nonnull handle, baton_curl_socket _Nonnull function);
CURLcode baton_curl_set_resolve(CURL *_Nonnull handle, baton_curl_resolve _Nonnull function);

/// The getters; 0 or null if there is nothing.
long baton_curl_long(CURL *_Nonnull handle, CURLINFO info);
void *_Nullable baton_curl_private(CURL *_Nonnull handle);
/// Opens a socket for an address, and keeps it from programs that are started. Of what is to be sent, the system takes
/// little more than the network does, so that what libcurl has given to it has nearly been sent. On failure -1, and
/// `errno` says why.
curl_socket_t baton_curl_open(const struct curl_sockaddr *_Nonnull address);

/// Whether a socket is connected from a local port to an address and port.
int baton_curl_is_connection(curl_socket_t socket, int local_port, const char *_Nonnull peer, int peer_port);

/// Prepares libcurl for this process. Once, before anything else.
void baton_curl_initialize(void);

/// How many milliseconds ago a TCP socket received something; -1 if that is not known.
long baton_curl_silence(curl_socket_t socket);

/// How many bytes the other side of a TCP socket has acknowledged; -1 if that is not known.
long long baton_curl_acknowledged(curl_socket_t socket);

/// How many bytes of what a TCP socket has received have been read; -1 if that is not known.
long long baton_curl_read_count(curl_socket_t socket);

/// Whether the two sides of a secure connection have agreed on HTTP/2, which they do while keys are exchanged: 1 or 0,
/// and -1 if that is not known. libcurl tells with the first head of an answer only.
int baton_curl_speaks_http2(CURL *_Nonnull handle);

/// Whether OpenSSL has taken more from the socket of the handle's connection than libcurl has read. 0 also if that is not known.
int baton_curl_has_read_more(CURL *_Nonnull handle);

/// Whether a socket has bytes to be read, or has been closed by the other side.
int baton_curl_is_readable(curl_socket_t socket);

/// Whether the other side of a socket has closed or reset it. Something may be left to be read.
int baton_curl_is_closed(curl_socket_t socket);

/// Closes a socket and puts in its place one end of a pair, to which can be written and from which nothing comes. Returns the other
/// end, which is to be closed after the socket. -1: there is no descriptor for it.
int baton_curl_mute(curl_socket_t socket);

CURLMcode baton_curl_multi_set_long(CURLM *_Nonnull multi, CURLMoption option, long value);

/// A share for the cookies of handles that one thread uses.
CURLSH *_Nullable baton_curl_cookie_share(void);

/// How many bytes the longest cookie that a handle knows takes in a request, or all of them together. Takes time for
/// each cookie.
size_t baton_curl_cookie_length(CURL *_Nonnull handle, int all);

/// The next transfer that has ended, with its result in `result`. Null: there is none.
CURL *_Nullable baton_curl_next_ended(CURLM *_Nonnull multi, CURLcode *_Nonnull result);

/// The values of macros.
enum {
    baton_curl_write_pause = CURL_WRITEFUNC_PAUSE,
    baton_curl_read_pause = CURL_READFUNC_PAUSE,
    baton_curl_read_abort = CURL_READFUNC_ABORT,
    baton_curl_error_size = CURL_ERROR_SIZE
};

#endif
