//! Macros that forward reads, writes or seeks to a field, without a timeout.

/// Forwards reads to the field.
macro_rules! forward_read {
    ($Type:ident: $field:ident) => {
        impl<T: AsyncRead> AsyncRead for $Type<T> {
            fn poll_read(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &mut ReadBuf<'_>,
            ) -> Poll<io::Result<()>> {
                self.project().$field.poll_read(cx, buf)
            }
        }
    };
}

/// Forwards writes to the field.
macro_rules! forward_write {
    ($Type:ident: $field:ident) => {
        impl<T: AsyncWrite> AsyncWrite for $Type<T> {
            fn poll_write(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                self.project().$field.poll_write(cx, buf)
            }

            fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.project().$field.poll_flush(cx)
            }

            fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.project().$field.poll_shutdown(cx)
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bufs: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                self.project().$field.poll_write_vectored(cx, bufs)
            }

            fn is_write_vectored(&self) -> bool {
                self.$field.is_write_vectored()
            }
        }
    };
}

/// Forwards seeks to the field.
macro_rules! forward_seek {
    ($Type:ident: $field:ident) => {
        impl<T: AsyncSeek> AsyncSeek for $Type<T> {
            fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
                self.project().$field.start_seek(position)
            }

            fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
                self.project().$field.poll_complete(cx)
            }
        }
    };
}
